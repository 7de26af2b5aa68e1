/** Operations on the loaded rows of the thread list. */
import type { InfiniteData } from "@tanstack/react-query";
import type { Listing } from "../api/client";
import type { ThreadSummary } from "../api/threads";

export type Pages = InfiniteData<Listing<ThreadSummary>>;

/** The time of the last message; 0 if it is unknown, so that the row is the last one. */
const time = ({ thread }: ThreadSummary): number => (thread.updatedAt ? Date.parse(thread.updatedAt) : 0);

/** Compares by time, newest first, like the server. */
function byTime(a: ThreadSummary, b: ThreadSummary): number {
  const [first, second] = [time(a), time(b)];
  if (first !== second) return second - first;
  return a.thread.id < b.thread.id ? 1 : -1;
}

export const allRows = (pages: Pages | undefined): readonly ThreadSummary[] =>
  pages?.pages.flatMap((page) => page.items) ?? [];

/** Replaces the rows with the ids `requested` by the rows that the server returned for them, in order. */
export function mergeRows(
  pages: Pages,
  requested: ReadonlySet<string>,
  returned: readonly ThreadSummary[],
): Pages {
  const next = pages.pages.at(-1)?.next ?? null;
  const before = allRows(pages);
  const last = before.at(-1);
  const within = returned.filter((row) => next === null || !last || byTime(row, last) < 0);
  const items = [...before.filter((row) => !requested.has(row.thread.id)), ...within].sort(byTime);
  return { pages: [{ items, next }], pageParams: [null] };
}

/** Applies a change to every row. */
export function mapRows(pages: Pages, change: (row: ThreadSummary) => ThreadSummary): Pages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, items: page.items.map(change) })),
  };
}

/** The visible rows: pinned rows first, each thread once, without hidden threads. */
export function visibleRows(
  pinned: readonly ThreadSummary[],
  others: readonly ThreadSummary[],
  hidden: ReadonlySet<string>,
): readonly ThreadSummary[] {
  const shown = new Map<string, ThreadSummary>();
  const loadedPins = others.filter((row) => row.pinned);
  for (const row of [...pinned, ...loadedPins].sort(byTime)) if (row.pinned) shown.set(row.thread.id, row);
  const first = [...shown.values()];
  const rest = others.filter((row) => !row.pinned);
  return [...first, ...rest].filter((row) => !hidden.has(row.thread.id));
}

/** The display name of a thread. */
export const nameOf = (row: ThreadSummary): string =>
  row.title?.trim() || row.thread.title?.trim() || "Untitled";

/** The last step of a project's path. */
export const shortProject = (project: string): string =>
  project.split(/[\\/]/).filter(Boolean).at(-1) ?? project;
