/** What happened in a thread. */
import type { ThreadOverview } from "../partita.gen";
import { getJson } from "./client";

/** The overview of a branch of a thread, or of its active branch. */
export const getOverview = (
  threadId: string,
  branch: string | null,
  signal?: AbortSignal,
): Promise<ThreadOverview> =>
  getJson(`api/threads/${encodeURIComponent(threadId)}/overview`, branch === null ? {} : { branch }, signal);

/** The key of an overview in the cache of queries. */
export const overviewKey = (threadId: string, branch: string | null) =>
  ["overview", threadId, branch] as const;
