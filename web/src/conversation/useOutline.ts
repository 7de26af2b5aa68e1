/** The outline of a thread, read again when it has grown or its branch has changed. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getOutline, type Outline } from "../api/messages";

export interface OutlineOf {
  readonly outline: Outline | undefined;
  readonly error: unknown;
  /** Whether what is there belongs to another branch, and the right one is on its way. */
  readonly isOld: boolean;
  readonly reload: () => Promise<{ readonly data: Outline | undefined }>;
}

export function useOutline(threadId: string, branch: string | null, internal: boolean): OutlineOf {
  const query = useQuery({
    queryKey: ["outline", threadId, branch, internal],
    queryFn: ({ signal }) => getOutline(threadId, branch, internal, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0, // tens of thousands of rows are not kept for a view that is gone
    structuralSharing: false,
  });
  return {
    outline: query.data,
    error: query.error,
    isOld: query.isPlaceholderData,
    reload: query.refetch,
  };
}
