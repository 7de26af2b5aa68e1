/** The diffs of the changed files of a thread, fetched again when its overview changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { getDiff } from "../api/overview";
import type { FileDiff, ThreadDiff, ThreadOverview } from "../partita.gen";

/** The most lines of each file that are loaded at first. */
const LINES = 1000;

interface DiffState {
  readonly diff: ThreadDiff | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** Loads all lines of a file. */
  readonly loadAll: (path: string) => Promise<FileDiff | undefined>;
}

export function useDiff(
  threadId: string,
  branch: string | null,
  overview: ThreadOverview | undefined,
): DiffState {
  const { data, error, refetch } = useQuery({
    queryKey: ["diff", threadId, branch],
    queryFn: ({ signal }) => getDiff(threadId, { branch, lines: LINES }, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });
  const known = useRef(overview);
  useEffect(() => {
    if (known.current && known.current !== overview) void refetch();
    known.current = overview;
  }, [overview, refetch]);
  const loadAll = useCallback(
    async (path: string) => (await getDiff(threadId, { branch, path })).files[0],
    [threadId, branch],
  );
  return { diff: data, error, retry: () => void refetch(), loadAll };
}
