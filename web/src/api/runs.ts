/** Runs: their data, timeline and log, and the comparison of two runs. */
import type { AssistantMessage, Chunk, Message, Run, Thread } from "../partita.gen";
import { getJson, type Listing } from "./client";

const encoded = encodeURIComponent;

export const getRun = (id: string, signal?: AbortSignal): Promise<Run> =>
  getJson(`api/runs/${encoded(id)}`, {}, signal);

/** A message of any branch; undefined if it is not stored (yet). */
export async function findMessage(
  threadId: string,
  id: string,
  signal?: AbortSignal,
): Promise<Message | undefined> {
  const path = `api/threads/${encoded(threadId)}/messages`;
  return (await getJson<Listing<Message>>(path, { ids: id, internal: "all", blobs: "reference" }, signal))
    .items[0];
}

/** Runs of one thread or of all threads, newest first. */
export const listRuns = (
  query: { threadId?: string; status?: string; limit?: number; cursor?: string },
  signal?: AbortSignal,
): Promise<Listing<Run>> => getJson("api/runs", query, signal);

/** An event of a run's timeline. */
export interface TimelineEvent {
  readonly seq: number;
  /** Milliseconds since the run began. */
  readonly time: number;
  /** Absent if the agent's bytes produced no chunk. */
  readonly chunk?: Chunk;
  /** The log record with the agent's bytes. */
  readonly raw?: number;
}

export interface TimelinePage {
  readonly items: readonly TimelineEvent[];
  readonly total: number;
  readonly active: boolean;
  /** The run was imported: its timeline is made from its messages, at an even pace. */
  readonly imported: boolean;
  readonly startedAt?: string;
  readonly next?: number;
}

/** Events after a sequence number. With `wait`, the server waits that many seconds for events of an active run. */
export const readTimeline = (
  id: string,
  query: { after: number; limit?: number; wait?: number },
  signal?: AbortSignal,
): Promise<TimelinePage> => getJson(`api/runs/${encoded(id)}/timeline`, query, signal);

/** The messages of a run after the chunk `seq`. */
export interface Moment {
  readonly seq: number;
  /** The id of the user's message that the run responds to. */
  readonly question: string | null;
  readonly messages: readonly AssistantMessage[];
}

export const readMoment = (id: string, seq: number, signal?: AbortSignal): Promise<Moment> =>
  getJson(`api/runs/${encoded(id)}/at`, { seq, internal: true }, signal);

/** A log record: a chunk and the agent's bytes. */
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

/** A part as JSON. Long texts are truncated. */
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

/** Threads whose text or title contains `text`, or with these ids; the most recently used first. */
export const findThreads = (
  query: { text?: string; ids?: readonly string[]; limit?: number },
  signal?: AbortSignal,
): Promise<Listing<Thread>> => getJson("api/threads", query, signal);
