/** A session as the list shows it: with its title for display, its repository and its state. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { arrivedSummary, getSummary, type ThreadSummary } from "../api/threads";
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
    initialData: () => arrivedSummary(threadId),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const known = useRef<Thread>(undefined);
  useEffect(() => {
    if (known.current && thread !== known.current) void refetch();
    known.current = thread;
  }, [thread, refetch]);
  return { summary: data ?? undefined, isLoading: isPending };
}
