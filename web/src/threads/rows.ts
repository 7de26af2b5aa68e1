/** The rows that are loaded, and what becomes of them when something changes. */
import type { InfiniteData } from "@tanstack/react-query";
import type { Listing } from "../api/client";
import type { ThreadSummary } from "../api/threads";

export type Pages = InfiniteData<Listing<ThreadSummary>>;

const time = (row: ThreadSummary): string => row.thread.updatedAt ?? "";

/** Newest first, as the server has it. */
export function byTime(a: ThreadSummary, b: ThreadSummary): number {
  const [first, second] = [Date.parse(time(a)), Date.parse(time(b))];
  if (first !== second) return second - first;
  return a.thread.id < b.thread.id ? 1 : -1;
}

export const loaded = (pages: Pages | undefined): readonly ThreadSummary[] =>
  pages?.pages.flatMap((page) => page.items) ?? [];

/** The pages after some threads were asked for again: those that came back take their new places. */
export function merged(pages: Pages, asked: ReadonlySet<string>, found: readonly ThreadSummary[]): Pages {
  const next = pages.pages.at(-1)?.next ?? null;
  const before = loaded(pages);
  const last = before.at(-1);
  const within = found.filter((row) => next === null || !last || byTime(row, last) < 0);
  const items = [...before.filter((row) => !asked.has(row.thread.id)), ...within].sort(byTime);
  return { pages: [{ items, next }], pageParams: [null] };
}

/** The pages with some rows changed in place. */
export function changed(pages: Pages, change: (row: ThreadSummary) => ThreadSummary): Pages {
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, items: page.items.map(change) })),
  };
}

/** What is shown: the pinned first, each thread once, those that are being deleted not at all. */
export function arranged(
  pinned: readonly ThreadSummary[],
  others: readonly ThreadSummary[],
  hidden: ReadonlySet<string>,
): readonly ThreadSummary[] {
  const shown = new Map<string, ThreadSummary>();
  const sure = others.filter((row) => row.pinned);
  for (const row of [...pinned, ...sure].sort(byTime)) if (row.pinned) shown.set(row.thread.id, row);
  const first = [...shown.values()];
  const rest = others.filter((row) => !row.pinned);
  return [...first, ...rest].filter((row) => !hidden.has(row.thread.id));
}

/** What a thread is called. */
export const nameOf = (row: ThreadSummary): string =>
  row.thread.title?.trim() || row.preview?.trim() || "Untitled";

/** Rows whose title, project or agent holds all words. */
export function matching(rows: readonly ThreadSummary[], text: string): readonly ThreadSummary[] {
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const { thread } = row;
    const said = [nameOf(row), shortProject(thread.project ?? ""), thread.agent]
      .join(" ")
      .toLocaleLowerCase();
    return words.every((word) => said.includes(word));
  });
}

/** What a project is called in little room: the last step of a path. */
export const shortProject = (project: string): string =>
  project.split(/[\\/]/).filter(Boolean).at(-1) ?? project;
