/** Runs: what they are, what happened in them and when, and how two of them compare. */
import type { AssistantMessage, Chunk, Message, Run, Thread } from "../partita.gen";
import { getJson, type Listing } from "./client";

const encoded = encodeURIComponent;

export const getRun = (id: string, signal?: AbortSignal): Promise<Run> =>
  getJson(`api/runs/${encoded(id)}`, {}, signal);

export const getThread = (id: string, signal?: AbortSignal): Promise<Thread> =>
  getJson(`api/threads/${encoded(id)}`, {}, signal);

/** The message of that id, of any branch; undefined where it is not stored (yet). */
export async function findMessage(
  threadId: string,
  id: string,
  signal?: AbortSignal,
): Promise<Message | undefined> {
  const path = `api/threads/${encoded(threadId)}/messages`;
  return (await getJson<Listing<Message>>(path, { ids: id, internal: "all", blobs: "reference" }, signal))
    .items[0];
}

/** Runs, the newest first; of one thread, or of all. */
export const listRuns = (
  query: { threadId?: string; limit?: number; cursor?: string },
  signal?: AbortSignal,
): Promise<Listing<Run>> => getJson("api/runs", query, signal);

/** Something that happened in a run. */
export interface TimelineEvent {
  readonly seq: number;
  /** Milliseconds since the run began. */
  readonly time: number;
  /** Absent where the agent's bytes gave no chunk. */
  readonly chunk?: Chunk;
  /** The record of the log that holds the agent's bytes. */
  readonly raw?: number;
}

export interface TimelinePage {
  readonly items: readonly TimelineEvent[];
  readonly total: number;
  readonly atWork: boolean;
  /** The run was imported, and its messages are told once more. */
  readonly retold: boolean;
  readonly startedAt?: string;
  readonly next?: number;
}

/** Events after a number. With `wait`, a run at work is given so many seconds to bring more. */
export const readTimeline = (
  id: string,
  query: { after: number; limit?: number; wait?: number },
  signal?: AbortSignal,
): Promise<TimelinePage> => getJson(`api/runs/${encoded(id)}/timeline`, query, signal);

/** A run as it was when a chunk had just come. */
export interface Moment {
  readonly seq: number;
  readonly messages: readonly AssistantMessage[];
}

export const readMoment = (id: string, seq: number, signal?: AbortSignal): Promise<Moment> =>
  getJson(`api/runs/${encoded(id)}/at`, { seq, internal: true }, signal);

/** An entry of a log: a chunk, and what the agent sent. */
export interface LogRecord {
  readonly seq: number;
  readonly time: string;
  readonly chunk?: Chunk;
  readonly raw?: string;
  readonly encoding?: "utf-8" | "base64";
}

export const readLog = (
  id: string,
  query: { after: number; limit: number },
  signal?: AbortSignal,
): Promise<{ items: readonly LogRecord[] }> => getJson(`api/runs/${encoded(id)}/log`, query, signal);

export interface Fact {
  readonly name: string;
  readonly a: string | number | null;
  readonly b: string | number | null;
}

export interface Piece {
  readonly mark: "=" | "-" | "+";
  readonly text: string;
}

export interface Difference {
  readonly path: string;
  readonly old?: unknown;
  readonly new?: unknown;
}

/** A part as JSON; its long texts are cut. */
export type ShownPart = Readonly<Record<string, unknown>> & { readonly type: string };

export interface PartDiff {
  readonly kind: "same" | "changed" | "removed" | "added";
  readonly label: string;
  readonly words?: readonly Piece[];
  readonly differences?: readonly Difference[];
  readonly a?: ShownPart;
  readonly b?: ShownPart;
  readonly seconds?: { readonly a?: number; readonly b?: number };
}

export interface RunDiff {
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
  readonly facts: readonly Fact[];
  readonly parts: readonly PartDiff[];
}

export const diffRuns = (a: string, b: string, signal?: AbortSignal): Promise<RunDiff> =>
  getJson(`api/runs/${encoded(a)}/diff/${encoded(b)}`, {}, signal);

/** Sessions whose words or title have `text`, or those of these ids; the last used ones first. */
export const findThreads = (
  query: { text?: string; ids?: readonly string[]; limit?: number },
  signal?: AbortSignal,
): Promise<Listing<Thread>> => getJson("api/threads", query, signal);
