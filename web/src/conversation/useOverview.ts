/** The overview of a thread, fetched again when the outline changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Outline } from "../api/messages";
import { getOverview, overviewKey } from "../api/overview";
import type { ThreadOverview } from "../partita.gen";
import type { MessageCache } from "./cache";

/** The time between two requests, as a multiple of what a request takes: in a long session, that is a second. */
const PAUSE = 4;

export function useOverview(
  threadId: string,
  branch: string | null,
  outline: Outline | undefined,
  cache: MessageCache,
): ThreadOverview | undefined {
  // The messages come first.
  const hasMessages = useSyncExternalStore(cache.subscribe, cache.version) > 0;
  const latest = useRef(outline);
  latest.current = outline;
  const fetched = useRef<Outline>(undefined);
  const nextAt = useRef(0);
  const { data, isFetching, refetch } = useQuery({
    queryKey: overviewKey(threadId, branch),
    queryFn: async ({ signal }) => {
      fetched.current = latest.current;
      const start = Date.now();
      const found = await getOverview(threadId, branch, signal);
      nextAt.current = Date.now() + PAUSE * (Date.now() - start);
      return found;
    },
    placeholderData: keepPreviousData,
    enabled: outline !== undefined && (hasMessages || outline.rows.length === 0),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });
  useEffect(() => {
    if (!data || isFetching || fetched.current === outline) return;
    const timer = setTimeout(() => void refetch(), Math.max(0, nextAt.current - Date.now()));
    return () => clearTimeout(timer);
  }, [data, isFetching, outline, refetch]);
  return data;
}
