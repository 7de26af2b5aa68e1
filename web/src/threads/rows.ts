/** Operations on the loaded rows of the thread list. */
import type { InfiniteData } from "@tanstack/react-query";
import type { Listing } from "../api/client";
import type { ThreadSummary } from "../api/threads";
import { count } from "../ui/format";
import { visible } from "../ui/sanitize";
import { comparator, isByTime, type Sort } from "./sorts";

export type Pages = InfiniteData<Listing<ThreadSummary>>;

export const allRows = (pages: Pages | undefined): readonly ThreadSummary[] =>
  pages?.pages.flatMap((page) => page.items) ?? [];

/** Replaces the rows with the ids `requested` by the rows that the server returned for them, in order. */
export function mergeRows(
  pages: Pages,
  requested: ReadonlySet<string>,
  returned: readonly ThreadSummary[],
  sort?: Sort,
): Pages {
  const compare = comparator(sort);
  const next = pages.pages.at(-1)?.next ?? null;
  const before = allRows(pages);
  const last = before.at(-1);
  const within = returned.filter((row) => next === null || !last || compare(row, last) < 0);
  const items = [...before.filter((row) => !requested.has(row.thread.id)), ...within].sort(compare);
  return { pages: [{ items, next }], pageParams: [null] };
}

/** Applies a change to every row. */
export function mapRows(pages: Pages, change: (row: ThreadSummary) => ThreadSummary): Pages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, items: page.items.map(change) })),
  };
}

/** The visible rows: each thread once, without hidden threads; in the order of time, pinned rows first. */
export function visibleRows(
  pinned: readonly ThreadSummary[],
  others: readonly ThreadSummary[],
  hidden: ReadonlySet<string>,
  sort?: Sort,
): readonly ThreadSummary[] {
  const isShown = (row: ThreadSummary) => !hidden.has(row.thread.id);
  if (!isByTime(sort)) return others.filter(isShown);
  const shown = new Map<string, ThreadSummary>();
  const loadedPins = others.filter((row) => row.pinned);
  for (const row of [...pinned, ...loadedPins].sort(comparator(sort)))
    if (row.pinned) shown.set(row.thread.id, row);
  const first = [...shown.values()];
  const rest = others.filter((row) => !row.pinned);
  return [...first, ...rest].filter(isShown);
}

/** The name of a thread. */
export const nameOf = (row: ThreadSummary): string =>
  row.title?.trim() || row.thread.title?.trim() || "Untitled";

/** The name of a thread as it is displayed: on one line, with hidden characters escaped. */
export const displayName = (row: ThreadSummary): string => visible(nameOf(row).replace(/\s+/g, " "));

/** The last step of a project's path. */
export const shortProject = (project: string): string =>
  project.split(/[\\/]/).filter(Boolean).at(-1) ?? project;

/** The repository of a thread by its short name, and its folder and branch. */
export function repositoryOf(row: ThreadSummary): { readonly name: string; readonly about: string } | null {
  const { project, metadata } = row.thread;
  const repository = row.repository ?? project;
  if (!repository) return null;
  const branch = metadata?.gitBranch;
  const about = [
    repository,
    project && project !== repository ? `Folder: ${project}` : null,
    typeof branch === "string" && branch ? `Branch: ${branch}` : null,
  ];
  return { name: shortProject(repository), about: about.filter(Boolean).join("\n") };
}

/** $0.02, $44, <$0.01: a cost on little space. */
export function shortMoney(value: number): string {
  if (value < 0.005) return "<$0.01";
  if (value >= 9.995) return `$${count(Math.round(value))}`;
  return `$${value.toFixed(2)}`;
}

/** 12 s, 3 min, 2.5 h, 4 d: a duration on little space. */
export function shortDuration(seconds: number): string {
  const rounded = (value: number) => (value < 9.95 ? Number(value.toFixed(1)) : Math.round(value));
  if (seconds < 59.5) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3570) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400 * 2) return `${rounded(seconds / 3600)} h`;
  return `${rounded(seconds / 86_400)} d`;
}
