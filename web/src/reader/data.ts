/** The data of a shared file. */

import { rememberViews } from "../context/toolViews";
import type { Message, Thread, ToolView } from "../partita.gen";

export interface SharedThread {
  readonly partita: string;
  readonly thread: Pick<Thread, "id" | "title" | "agent" | "project" | "createdAt" | "updatedAt">;
  readonly messages: readonly Message[];
  readonly facts: {
    readonly redacted?: number;
    readonly leftOut?: number;
    readonly filesLeftOut?: number;
  };
}

interface FileData extends SharedThread {
  /** For each message: the views of its tool calls, by JSON Pointer into the message. */
  readonly views: readonly Readonly<Record<string, ToolView>>[];
}

/** Parses the data of the file; null if it is damaged. */
export function parseShared(text: string): SharedThread | null {
  try {
    const data = JSON.parse(text) as Partial<FileData>;
    if (!Array.isArray(data.messages) || !data.thread) return null;
    for (const [index, message] of data.messages.entries()) rememberViews(message, data.views?.[index]);
    return {
      partita: data.partita ?? "",
      thread: data.thread,
      messages: data.messages,
      facts: data.facts ?? {},
    };
  } catch {
    return null;
  }
}
