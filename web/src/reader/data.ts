/** The data of a shared file: one thread, or an index of several, whose data is in elements of their own. */

import { rememberAllViews } from "../context/toolViews";
import type { Message, PartView, Thread, ThreadOverview } from "../partita.gen";

export type SharedHead = Pick<Thread, "id" | "title" | "agent" | "project" | "createdAt" | "updatedAt">;

export interface SharedThread {
  readonly thread: SharedHead;
  readonly messages: readonly Message[];
  /** What happened in the messages. Files of earlier releases do not have it. */
  readonly overview?: ThreadOverview;
  readonly facts: {
    readonly redacted?: number;
    readonly leftOut?: number;
    readonly filesLeftOut?: number;
  };
}

export interface IndexEntry {
  readonly thread: SharedHead;
  /** The number of messages. */
  readonly messages: number;
  /** The id of the element with the data of the thread. */
  readonly element: string;
}

interface ThreadData extends SharedThread {
  /** For each message: the views of its tool calls, by JSON Pointer into the message. */
  readonly views: readonly Readonly<Record<string, PartView>>[];
}

const DATA = "partita";

/** The index of a file with several threads; null for a file with one. */
export function readIndex(): readonly IndexEntry[] | null {
  const threads = read<{ readonly threads: readonly IndexEntry[] }>(DATA)?.threads;
  return Array.isArray(threads) ? threads : null;
}

/** The thread in an element; null if it is damaged. Large threads take time, so only those that are opened are read. */
export function readThread(element: string = DATA): SharedThread | null {
  const data = read<ThreadData>(element);
  if (!Array.isArray(data?.messages) || !data.thread) return null;
  rememberAllViews(data.messages, data.views);
  const { thread, messages, overview, facts = {} } = data;
  return { thread, messages, overview: Array.isArray(overview?.turns) ? overview : undefined, facts };
}

function read<T>(element: string): Partial<T> | null {
  try {
    return JSON.parse(document.getElementById(element)?.textContent ?? "") as Partial<T> | null;
  } catch {
    return null;
  }
}
