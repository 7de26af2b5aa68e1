/** What the list of sessions requests. Few imports: it is prefetched before most of the page's script runs. */
import type { Query } from "../api/client";
import { prefetchSummaries } from "../api/threads";
import { type Filters, toQuery } from "./filters";
import { sortQuery } from "./sorts";

const PAGE = 200;

export const listQuery = (query: Query, cursor: string | null): Query => ({ ...query, limit: PAGE, cursor });
export const pinnedQuery = (query: Query): Query => ({ ...query, pinned: true, limit: PAGE });

/** Prefetches the first page of the list. */
export function prefetchList(filters: Filters): void {
  const query = { ...toQuery(filters), ...sortQuery(filters.sort) };
  prefetchSummaries(listQuery(query, null));
  prefetchSummaries(pinnedQuery(query));
}
