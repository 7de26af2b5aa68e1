/** The overview of a thread, fetched again when the outline changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import type { Outline } from "../api/messages";
import { getOverview, overviewKey } from "../api/overview";
import type { ThreadOverview } from "../partita.gen";
import type { MessageCache } from "./cache";

export function useOverview(
  threadId: string,
  branch: string | null,
  outline: Outline | undefined,
  cache: MessageCache,
): ThreadOverview | undefined {
  // The messages come first: in a long session, the server takes a second for the overview.
  const hasMessages = useSyncExternalStore(cache.subscribe, cache.version) > 0;
  const { data, refetch } = useQuery({
    queryKey: overviewKey(threadId, branch),
    queryFn: ({ signal }) => getOverview(threadId, branch, signal),
    placeholderData: keepPreviousData,
    enabled: outline !== undefined && (hasMessages || outline.rows.length === 0),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another outline may have another overview
  useEffect(() => {
    if (data) void refetch();
  }, [outline]);
  return data;
}
