/** Full-text search. */

import { getJson, type Listing, type Query } from "./client";

export interface Hit {
  readonly threadId: string;
  readonly messageId?: string | null;
  readonly role?: string | null;
  readonly title?: string | null;
  /** The path of the part with the snippet. */
  readonly part?: string | null;
  readonly field: string;
  readonly snippet: string;
  /** Start and end of each match in the snippet, in code points. */
  readonly highlights: readonly (readonly [number, number])[];
  readonly createdAt?: string | null;
  /** The number of messages of the thread that match. */
  readonly threadMatches: number;
}

/** A page of hits, with the totals of all pages. */
export interface SearchPage extends Listing<Hit> {
  readonly threads?: number;
  /** The number of messages that match. */
  readonly matches?: number;
  /** Otherwise older messages match, too. */
  readonly complete?: boolean;
}

/** Messages and titles that match a query in the grammar of the server. `perThread` groups them. */
export const search = (q: string, query: Query, signal?: AbortSignal): Promise<SearchPage> =>
  getJson("api/search", { ...query, q }, signal);

/** The occurrences of the words of a query in a part; without a part, the message as a whole. */
export interface PartMatches {
  readonly messageId: string;
  readonly part?: string | null;
  readonly count: number;
  /** The different texts that were found. */
  readonly words?: readonly string[];
}

export interface ThreadMatches {
  readonly items: readonly PartMatches[];
  /** Otherwise older messages match, too. */
  readonly complete: boolean;
}

/** Where the words of a query occur in a thread, on all its branches. */
export const findInThread = (
  threadId: string,
  q: string,
  matchCase: boolean,
  signal?: AbortSignal,
): Promise<ThreadMatches> =>
  getJson(
    `api/threads/${encodeURIComponent(threadId)}/find`,
    { q, matchCase: matchCase || undefined },
    signal,
  );

/** Whether a query has a word or a qualifier that is not excluded. The server refuses others. */
export const isSearchable = (q: string): boolean =>
  q.split(/\s+/).some((word) => /[\p{L}\p{N}]/u.test(word) && !/^-[^-]/.test(word));
