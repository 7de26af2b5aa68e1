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
}

export const search = (q: string, query: Query, signal?: AbortSignal): Promise<Listing<Hit>> =>
  getJson("api/search", { ...query, q }, signal);
