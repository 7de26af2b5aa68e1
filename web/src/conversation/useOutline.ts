/** The outline of a thread, fetched again when the thread or the branch changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getOutline, type Outline } from "../api/messages";

interface OutlineState {
  readonly outline: Outline | undefined;
  readonly error: unknown;
  /** The outline is that of the previous branch; the new one is loading. */
  readonly isStale: boolean;
  readonly reload: () => Promise<{ readonly data: Outline | undefined }>;
}

export function useOutline(threadId: string, branch: string | null, internal: boolean): OutlineState {
  const query = useQuery({
    queryKey: ["outline", threadId, branch, internal],
    queryFn: ({ signal }) => getOutline(threadId, branch, internal, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0, // an outline can have tens of thousands of rows: do not cache it after the view closes
    structuralSharing: false,
  });
  return {
    outline: query.data,
    error: query.error,
    isStale: query.isPlaceholderData,
    reload: query.refetch,
  };
}
