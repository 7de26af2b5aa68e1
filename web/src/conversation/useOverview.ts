/** The overview of a thread, fetched again when the outline changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Outline } from "../api/messages";
import { getOverview, overviewKey } from "../api/overview";
import type { ThreadOverview } from "../partita.gen";

export function useOverview(
  threadId: string,
  branch: string | null,
  outline: Outline | undefined,
): ThreadOverview | undefined {
  const { data, refetch } = useQuery({
    queryKey: overviewKey(threadId, branch),
    queryFn: ({ signal }) => getOverview(threadId, branch, signal),
    placeholderData: keepPreviousData,
    enabled: outline !== undefined, // the messages come first
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
