/** The threads of the list: asked for page by page, and kept up to date by the feed. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Query } from "../api/client";
import { type ImportStatus, listen } from "../api/feed";
import { getFacets, listSummaries, type ThreadSummary } from "../api/threads";
import { useHidden } from "./deletions";
import { arranged, changed, loaded, merged, type Pages } from "./rows";

const PAGE = 200;
const MOST_AT_ONCE = 100;
const TOGETHER = 250;
const LIVE_EVERY = 4000;
const FACETS_EVERY = 3000;
const AT_WORK = new Set(["pending", "running"]);
const NEVER = Number.POSITIVE_INFINITY;

export function useRows(query: Query) {
  const client = useQueryClient();
  const hidden = useHidden();
  const listKey = useMemo(() => ["threads", "list", query] as const, [query]);
  const list = useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) => listSummaries({ ...query, limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next ?? null,
    placeholderData: keepPreviousData,
    staleTime: NEVER,
  });
  const pinnedKey = useMemo(() => ["threads", "pinned", query] as const, [query]);
  const pinned = useQuery({
    queryKey: pinnedKey,
    queryFn: ({ signal }) => listSummaries({ ...query, pinned: true, limit: PAGE }, signal),
    placeholderData: keepPreviousData,
    staleTime: NEVER,
  });
  const rows = useMemo(
    () => arranged(pinned.data?.items ?? [], loaded(list.data), hidden),
    [pinned.data, list.data, hidden],
  );

  /** Change rows here, before the server is asked or after it was. */
  const change = useCallback(
    (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => {
      const one = (row: ThreadSummary) => (ids.has(row.thread.id) ? how(row) : row);
      client.setQueriesData<Pages>({ queryKey: ["threads", "list"] }, (was) => was && changed(was, one));
      client.setQueryData<typeof pinned.data>(
        pinnedKey,
        (was) => was && { ...was, items: was.items.map(one) },
      );
    },
    [client, pinnedKey],
  );

  /** Ask for some threads again, and put them where they belong now. */
  const refresh = useCallback(
    async (ids: readonly string[]) => {
      if (ids.length > MOST_AT_ONCE) {
        await client.invalidateQueries({ queryKey: ["threads"] });
        return;
      }
      const chosen = query.ids as readonly string[] | undefined;
      const wanted = chosen ? ids.filter((id) => chosen.includes(id)) : ids;
      if (!wanted.length) return;
      const found = (await listSummaries({ ...query, ids: wanted, limit: MOST_AT_ONCE })).items;
      const asked = new Set(wanted);
      client.setQueryData<Pages>(listKey, (was) => was && merged(was, asked, found));
      client.setQueryData<typeof pinned.data>(pinnedKey, (was) => {
        if (!was) return was;
        const others = was.items.filter((row) => !asked.has(row.thread.id));
        return { ...was, items: [...others, ...found.filter((row) => row.pinned)] };
      });
    },
    [client, query, listKey, pinnedKey],
  );

  const reload = useCallback(() => void client.invalidateQueries({ queryKey: ["threads"] }), [client]);
  const progress = useFeed({ refresh, change, reload });
  useLive(rows, refresh);
  return { list, rows, change, refresh, reload, progress };
}

export const useFacets = (query: Query) =>
  useQuery({
    queryKey: ["threads", "facets", query],
    queryFn: ({ signal }) => getFacets(query, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

interface Hands {
  readonly refresh: (ids: readonly string[]) => Promise<void>;
  readonly change: (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => void;
  readonly reload: () => void;
}

/** Hears what changes, and asks for it; gives how far an import is. */
function useFeed(given: Hands): ImportStatus | null {
  const client = useQueryClient();
  const hands = useRef(given); // another filter is no reason to listen anew
  hands.current = given;
  const [progress, setProgress] = useState<ImportStatus | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const due = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let counting: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const ids = [...due];
      due.clear();
      hands.current.refresh(ids).catch(() => undefined); // the next change tells it again
      counting ??= setTimeout(() => {
        counting = undefined;
        void client.invalidateQueries({ queryKey: ["threads", "facets"] });
      }, FACETS_EVERY);
    };
    const need = (ids: readonly string[]) => {
      for (const id of ids) due.add(id);
      if (ids.length) timer ??= setTimeout(flush, TOGETHER);
    };
    void listen(
      {
        begun: (again) => again && hands.current.reload(),
        threads: (items) => need(items.map((one) => one.id)),
        runs: (items) => {
          for (const { id, threadId, status } of items) {
            const isAtWork = status !== null && AT_WORK.has(status);
            hands.current.change(new Set([threadId]), (row) =>
              isAtWork || row.runId === id
                ? { ...row, runId: isAtWork ? id : null, runStatus: isAtWork ? status : null, waiting: false }
                : row,
            );
          }
          need(items.map((one) => one.threadId));
        },
        deleted: need, // what is not found any more goes
        import: (status) => {
          setProgress((was) => {
            if (was?.state === "reading" && status.state !== "reading") hands.current.reload();
            return status;
          });
        },
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearTimeout(counting);
    };
  }, [client]);
  return progress;
}

/** Looks after the rows in which something is at work: whether it waits for somebody is not in the feed. */
function useLive(rows: readonly ThreadSummary[], refresh: Hands["refresh"]): void {
  const live = rows.filter((row) => row.runStatus).map((row) => row.thread.id);
  const key = live.slice(0, MOST_AT_ONCE).join("\n");
  useEffect(() => {
    if (!key) return;
    const timer = setInterval(() => refresh(key.split("\n")).catch(() => undefined), LIVE_EVERY);
    return () => clearInterval(timer);
  }, [key, refresh]);
}
