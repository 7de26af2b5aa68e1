/** Full-text search. */

import { getJson, type Listing, type Query } from "./client";

export interface Hit {
  readonly threadId: string;
  readonly messageId?: string | null;
  readonly role?: string | null;
  readonly title?: string | null;
  readonly field: string;
  readonly snippet: string;
  /** Start and end of each match in the snippet, in code points. */
  readonly highlights: readonly (readonly [number, number])[];
  readonly createdAt?: string | null;
  /** The number of messages of the thread that match. */
  readonly threadMatches: number;
}

/** Messages and titles that match a query in the grammar of the server. `perThread` groups them. */
export const search = (q: string, query: Query, signal?: AbortSignal): Promise<Listing<Hit>> =>
  getJson("api/search", { ...query, q }, signal);

/** Whether a query has a word or a qualifier that is not excluded. The server refuses others. */
export const isSearchable = (q: string): boolean =>
  q.split(/\s+/).some((word) => /[\p{L}\p{N}]/u.test(word) && !/^-[^-]/.test(word));
