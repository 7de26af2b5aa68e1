/** Threads: as the list shows them, what there is to choose from, and what can be changed about one. */

import type { RunStatus, Thread } from "../partita.gen";
import { ask, authorization, getJson, type Listing, type Query, sendJson } from "./client";

export interface ThreadSummary {
  readonly thread: Thread;
  /** Of a thread without a title: how its first question begins. */
  readonly preview?: string | null;
  readonly models?: readonly string[];
  readonly errors?: number;
  readonly pinned?: boolean;
  readonly runId?: string | null;
  readonly runStatus?: RunStatus | null;
  readonly waiting?: boolean;
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
  readonly errors: number;
  readonly pinned: number;
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

export const listSummaries = (query: Query, signal?: AbortSignal): Promise<Listing<ThreadSummary>> =>
  getJson("api/summaries", query, signal);

export const getFacets = (query: Query, signal?: AbortSignal): Promise<Facets> =>
  getJson("api/facets", query, signal);

export const renameThread = (id: string, title: string): Promise<Thread> =>
  sendJson("PATCH", at(id), { title: title || null });

export const pinThread = (id: string, pinned: boolean): Promise<Thread> =>
  sendJson("PATCH", at(id), { metadata: { pinned: pinned || null } });

export const copyThread = (id: string): Promise<Thread> => sendJson("POST", `${at(id)}/clone`, {});

/** Delete a thread; with `leaving`, although the page goes away. One that is gone already is fine. */
export async function deleteThread(id: string, leaving = false): Promise<void> {
  await ask(at(id), { method: "DELETE", keepalive: leaving, headers: authorization() }).catch(
    (error: unknown) => {
      if ((error as { status?: number }).status !== 404) throw error;
    },
  );
}
