/** The rows of the thread list: loaded page by page and updated from the feed. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Query } from "../api/client";
import { type ImportStatus, listen } from "../api/feed";
import { arrivedSummaries, getFacets, listSummaries, type ThreadSummary } from "../api/threads";
import { useHiddenThreads } from "./deletions";
import { listQuery, pinnedQuery } from "./listQueries";
import { allRows, mapRows, mergeRows, type Pages, visibleRows } from "./rows";
import { type Sort, sortQuery } from "./sorts";

const MAX_REFRESH = 100;
/** Milliseconds in which changes are collected into one request. */
const REFRESH_DELAY = 250;
const ACTIVE_REFRESH_INTERVAL = 4000;
const FACETS_DELAY = 3000;
const ACTIVE = new Set(["pending", "running"]);
const NEVER = Number.POSITIVE_INFINITY;

export function useRows(filters: Query, sort: Sort | undefined) {
  const client = useQueryClient();
  const hidden = useHiddenThreads();
  const query = useMemo(() => ({ ...filters, ...sortQuery(sort) }), [filters, sort]);
  const listKey = useMemo(() => ["threads", "list", query] as const, [query]);
  const list = useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) => listSummaries(listQuery(query, pageParam), signal),
    initialData: () => {
      const page = arrivedSummaries(listQuery(query, null));
      return page && { pages: [page], pageParams: [null] };
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next ?? null,
    placeholderData: keepPreviousData,
    staleTime: NEVER,
  });
  const pinnedKey = useMemo(() => ["threads", "pinned", query] as const, [query]);
  const pinned = useQuery({
    queryKey: pinnedKey,
    queryFn: ({ signal }) => listSummaries(pinnedQuery(query), signal),
    initialData: () => arrivedSummaries(pinnedQuery(query)),
    placeholderData: keepPreviousData,
    staleTime: NEVER,
  });
  // The order that the rows were loaded in: until new ones arrive, the previous rows are shown.
  const shown = useRef({ key: JSON.stringify(query), sort });
  if (!list.isPlaceholderData) shown.current = { key: JSON.stringify(query), sort };
  const { key: rowsKey, sort: rowsSort } = shown.current;
  const rows = useMemo(
    () => visibleRows(pinned.data?.items ?? [], allRows(list.data), hidden, rowsSort),
    [pinned.data, list.data, hidden, rowsSort],
  );

  /** Changes rows in the cache, without a request. */
  const change = useCallback(
    (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => {
      const one = (row: ThreadSummary) => (ids.has(row.thread.id) ? how(row) : row);
      client.setQueriesData<Pages>({ queryKey: ["threads", "list"] }, (was) => was && mapRows(was, one));
      client.setQueryData<typeof pinned.data>(
        pinnedKey,
        (was) => was && { ...was, items: was.items.map(one) },
      );
    },
    [client, pinnedKey],
  );

  /** Reloads some threads and moves them to their new positions. */
  const refresh = useCallback(
    async (ids: readonly string[]) => {
      if (ids.length > MAX_REFRESH) {
        await client.invalidateQueries({ queryKey: ["threads"] });
        return;
      }
      const chosen = query.ids as readonly string[] | undefined;
      const wanted = chosen ? ids.filter((id) => chosen.includes(id)) : ids;
      if (!wanted.length) return;
      const returned = (await listSummaries({ ...query, ids: wanted, limit: MAX_REFRESH })).items;
      const requested = new Set(wanted);
      client.setQueryData<Pages>(listKey, (was) => was && mergeRows(was, requested, returned, sort));
      client.setQueryData<typeof pinned.data>(pinnedKey, (was) => {
        if (!was) return was;
        const others = was.items.filter((row) => !requested.has(row.thread.id));
        return { ...was, items: [...others, ...returned.filter((row) => row.pinned)] };
      });
    },
    [client, query, sort, listKey, pinnedKey],
  );

  const reload = useCallback(() => void client.invalidateQueries({ queryKey: ["threads"] }), [client]);
  const progress = useFeed({ refresh, change, reload });
  useActiveRefresh(rows, refresh);
  return { list, rows, rowsKey, rowsSort, change, refresh, reload, progress };
}

/** The numbers beside the filters. They take the server longer than the rows, which come first. */
export const useFacets = (query: Query, hasRows: boolean) =>
  useQuery({
    enabled: hasRows,
    queryKey: ["threads", "facets", query],
    queryFn: ({ signal }) => getFacets(query, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

interface FeedActions {
  readonly refresh: (ids: readonly string[]) => Promise<void>;
  readonly change: (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => void;
  readonly reload: () => void;
}

/** Updates the list from the feed. Returns the progress of an import. */
function useFeed(latest: FeedActions): ImportStatus | null {
  const client = useQueryClient();
  const actions = useRef(latest); // a ref: new filters must not restart the feed
  actions.current = latest;
  const [progress, setProgress] = useState<ImportStatus | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const due = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let facetsTimer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const ids = [...due];
      due.clear();
      actions.current.refresh(ids).catch(() => undefined); // the next change refreshes them
      facetsTimer ??= setTimeout(() => {
        facetsTimer = undefined;
        void client.invalidateQueries({ queryKey: ["threads", "facets"] });
      }, FACETS_DELAY);
    };
    const schedule = (ids: readonly string[]) => {
      for (const id of ids) due.add(id);
      if (ids.length) timer ??= setTimeout(flush, REFRESH_DELAY);
    };
    listen(
      {
        connected: (again) => again && actions.current.reload(),
        threads: (items) => schedule(items.map((one) => one.id)),
        runs: (items) => {
          for (const { id, threadId, status } of items) {
            const isActive = status !== null && ACTIVE.has(status);
            actions.current.change(new Set([threadId]), (row) =>
              isActive || row.runId === id
                ? { ...row, runId: isActive ? id : null, runStatus: isActive ? status : null, waiting: false }
                : row,
            );
          }
          schedule(items.map((one) => one.threadId));
        },
        deleted: schedule, // the refresh removes threads that are not found
        import: (status) => {
          setProgress((was) => {
            if (was?.state === "reading" && status.state !== "reading") actions.current.reload();
            return status;
          });
        },
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearTimeout(facetsTimer);
    };
  }, [client]);
  return progress;
}

/** Refreshes threads with an active run at intervals: the feed does not report that a run waits for an approval. */
function useActiveRefresh(rows: readonly ThreadSummary[], refresh: FeedActions["refresh"]): void {
  const active = rows.filter((row) => row.runStatus).map((row) => row.thread.id);
  const key = active.slice(0, MAX_REFRESH).join("\n");
  useEffect(() => {
    if (!key) return;
    const timer = setInterval(() => refresh(key.split("\n")).catch(() => undefined), ACTIVE_REFRESH_INTERVAL);
    return () => clearInterval(timer);
  }, [key, refresh]);
}
