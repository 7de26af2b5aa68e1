/** What happened in a thread. */
import type { ThreadDiff, ThreadOverview } from "../partita.gen";
import { getJson } from "./client";

/** The overview of a branch of a thread, or of its active branch. */
export const getOverview = (
  threadId: string,
  branch: string | null,
  signal?: AbortSignal,
): Promise<ThreadOverview> =>
  getJson(`api/threads/${encodeURIComponent(threadId)}/overview`, branch === null ? {} : { branch }, signal);

interface DiffOptions {
  readonly branch: string | null;
  /** One of the files; by default all. */
  readonly path?: string;
  /** The most lines of each file. */
  readonly lines?: number;
}

/** The changed files of a branch with their diffs. */
export const getDiff = (threadId: string, options: DiffOptions, signal?: AbortSignal): Promise<ThreadDiff> =>
  getJson(`api/threads/${encodeURIComponent(threadId)}/diff`, { ...options }, signal);

/** The key of an overview in the cache of queries. */
export const overviewKey = (threadId: string, branch: string | null) =>
  ["overview", threadId, branch] as const;
