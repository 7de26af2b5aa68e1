/** Threads: list, facets and changes. */

import type { RunStatus, Thread } from "../partita.gen";
import {
  arrivedJson,
  authorization,
  getJson,
  type Listing,
  prefetchJson,
  type Query,
  request,
  sendJson,
} from "./client";

/** Whether the thread is the log of an agent that runs elsewhere and may continue it there. */
export const isImported = ({ metadata }: Thread): boolean =>
  typeof metadata?.sessionId === "string" && metadata.clone === undefined;

export interface ThreadSummary {
  readonly thread: Thread;
  /** For display: without what tools added, or the beginning of a question if the thread has no title. */
  readonly title?: string | null;
  /** The repository with the project, or else the project. */
  readonly repository?: string | null;
  readonly models?: readonly string[];
  readonly errors?: number;
  readonly pinned?: boolean;
  readonly tags?: readonly string[];
  readonly note?: string | null;
  readonly runId?: string | null;
  readonly runStatus?: RunStatus | null;
  /** For the approval of a call. */
  readonly waiting?: boolean;
  readonly runs?: number;
  /** The sum of the durations of its runs, as far as they are known. */
  readonly seconds?: number | null;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cost?: number | null;
}

export interface FacetValue {
  readonly value: string;
  readonly threads: number;
}

export interface Facets {
  readonly threads: number;
  readonly agents: readonly FacetValue[];
  readonly projects: readonly FacetValue[];
  readonly models: readonly FacetValue[];
  readonly tools: readonly FacetValue[];
  readonly tags: readonly FacetValue[];
  readonly errors: number;
  readonly pinned: number;
  readonly running: number;
  readonly dates: {
    readonly today: number;
    readonly week: number;
    readonly month: number;
    readonly older: number;
  };
  readonly complete: boolean;
  readonly searched: number;
}

const at = (id: string) => `api/threads/${encodeURIComponent(id)}`;

/** The threads with messages. */
export const listSummaries = (query: Query, signal?: AbortSignal): Promise<Listing<ThreadSummary>> =>
  getJson("api/summaries", LISTED(query), signal);

const LISTED = (query: Query): Query => ({ empty: false, ...query });

/** The threads that `prefetchSummaries` has requested, if they have arrived. */
export const arrivedSummaries = (query: Query): Listing<ThreadSummary> | undefined =>
  arrivedJson("api/summaries", LISTED(query));

/** Prepares `listSummaries`. */
export const prefetchSummaries = (query: Query): void => prefetchJson("api/summaries", LISTED(query));

/** The summary of a thread; null for one without messages. */
export const getSummary = async (id: string, signal?: AbortSignal): Promise<ThreadSummary | null> =>
  (await getJson<Listing<ThreadSummary>>("api/summaries", SUMMARY_OF(id), signal)).items[0] ?? null;

/** The summary that `prefetchSummary` has requested, if it has arrived. */
export const arrivedSummary = (id: string): ThreadSummary | null | undefined => {
  const found = arrivedJson<Listing<ThreadSummary>>("api/summaries", SUMMARY_OF(id));
  return found && (found.items[0] ?? null);
};

const SUMMARY_OF = (id: string): Query => ({ ids: id, limit: 1 });

/** Prepares `getSummary`. */
export const prefetchSummary = (id: string): void => prefetchJson("api/summaries", SUMMARY_OF(id));

export const getFacets = (query: Query, signal?: AbortSignal): Promise<Facets> =>
  getJson("api/facets", { empty: false, ...query }, signal);

export const getThread = (id: string, signal?: AbortSignal): Promise<Thread> => getJson(at(id), {}, signal);

/** The thread that `prefetchThread` has requested, if it has arrived. */
export const arrivedThread = (id: string): Thread | undefined => arrivedJson(at(id), {});

export const renameThread = (id: string, title: string): Promise<Thread> =>
  sendJson("PATCH", at(id), { title: title || null });

export const pinThread = (id: string, pinned: boolean): Promise<Thread> =>
  sendJson("PATCH", at(id), { metadata: { pinned: pinned || null } });

export const setTags = (id: string, tags: readonly string[]): Promise<Thread> =>
  sendJson("PATCH", at(id), { metadata: { tags: tags.length ? tags : null } });

export const setNote = (id: string, note: string | null): Promise<Thread> =>
  sendJson("PATCH", at(id), { metadata: { note } });

export const copyThread = (id: string): Promise<Thread> => sendJson("POST", `${at(id)}/clone`, {});

/** Copies a thread up to a message. */
export const forkThread = (id: string, messageId: string, title?: string): Promise<Thread> =>
  sendJson("POST", `${at(id)}/fork`, { messageId, title });

/** Deletes a thread; with `keepalive`, even while the page unloads. A missing thread is not an error. */
export async function deleteThread(id: string, keepalive = false): Promise<void> {
  await request(at(id), { method: "DELETE", keepalive, headers: authorization() }).catch((error: unknown) => {
    if ((error as { status?: number }).status !== 404) throw error;
  });
}
