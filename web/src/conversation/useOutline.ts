/** The outline of a thread, fetched again when the thread or the branch changes. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { arrivedOutline, getOutline, type Outline, type OutlinePage, opening } from "../api/messages";
import type { MessageCache } from "./cache";

/** Milliseconds between two reloads while an agent is at work. */
const RUNNING_RELOAD = 30_000;

/** Milliseconds in which an outline that has arrived before the view is not fetched again. */
const JUST_NOW = 1000;

interface OutlineState {
  /** At first, that of a long thread has only the messages that are displayed first. */
  readonly outline: Outline | undefined;
  readonly error: unknown;
  /** The outline is that of the previous branch; the new one is loading. */
  readonly isStale: boolean;
  readonly reload: () => Promise<{ readonly data: Outline | undefined }>;
}

interface Options {
  readonly branch: string | null;
  readonly internal: boolean;
  /** The message in the page's address. */
  readonly message: string | null;
  readonly cache: MessageCache;
}

export function useOutline(threadId: string, { branch, internal, message, cache }: Options): OutlineState {
  const open = ({ outline, page }: OutlinePage): Outline => {
    if (page) cache.add(outline.rows, page);
    return outline;
  };
  const query = useQuery({
    queryKey: ["outline", threadId, branch, internal],
    queryFn: async ({ client, queryKey, signal }) => {
      if (cache.isEmpty) {
        const first = open(await getOutline(threadId, { ...opening(message), branch, internal }, signal));
        if (first.complete) return first;
        client.setQueryData(queryKey, first);
      }
      return (await getOutline(threadId, { branch, internal }, signal)).outline;
    },
    initialData: () => {
      const first = cache.isEmpty && branch === null && !internal && arrivedOutline(threadId, message);
      return first ? open(first) : undefined;
    },
    placeholderData: keepPreviousData,
    staleTime: ({ state }) => (state.data?.complete ? JUST_NOW : 0),
    // An agent that runs elsewhere may end without a change that the feed reports.
    refetchInterval: ({ state }) => (state.data?.running ? RUNNING_RELOAD : false),
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
