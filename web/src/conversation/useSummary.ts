/** A session as the list shows it: with its title for display, its repository and its state. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { getSummary, type ThreadSummary } from "../api/threads";
import type { Thread } from "../partita.gen";

interface SummaryState {
  readonly summary: ThreadSummary | undefined;
  readonly isLoading: boolean;
}

/** Fetched again when the thread changes. */
export function useSummary(threadId: string, thread: Thread | undefined): SummaryState {
  const { data, isPending, refetch } = useQuery({
    queryKey: ["thread", threadId, "summary"],
    queryFn: ({ signal }) => getSummary(threadId, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another thread has another summary
  useEffect(() => {
    if (!isPending) void refetch();
  }, [thread]);
  return { summary: data ?? undefined, isLoading: isPending };
}
