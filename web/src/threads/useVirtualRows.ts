/** The virtual list: only the entries in sight are rendered. The heading of their group stays at the top. */
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { ThreadSummary } from "../api/threads";
import { type Entry, entriesOf } from "./groups";
import type { Sort } from "./sorts";
import { type RowSizes, useSizes } from "./useSizes";

const NONE: readonly Entry[] = [];

interface Options {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly rows: readonly ThreadSummary[];
  /** Identifies the filters and the order of the rows. */
  readonly rowsKey: string;
  readonly sort: Sort | undefined;
  readonly now: number;
  /** The row that stays rendered because it has the focus. */
  readonly focused: string | null;
  readonly current: string | undefined;
}

export function useVirtualRows({ scroller, rows, rowsKey, sort, now, focused, current }: Options) {
  const sizes = useSizes(scroller);
  const day = new Date(now).toDateString(); // the groups change at midnight
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time of day changes no group
  const entries = useMemo(() => (sizes ? entriesOf(rows, sort, now, sizes) : NONE), [rows, sort, day, sizes]);
  const indexes = useMemo(() => new Map(entries.map((one, index) => [one.key, index])), [entries]);
  const headings = useMemo(
    () => entries.flatMap((one, index) => (one.kind === "heading" ? index : [])),
    [entries],
  );
  const sticky = useRef<number | undefined>(undefined);
  const kept = focused === null ? undefined : indexes.get(focused);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => entries[index]?.size ?? 0,
    overscan: 6,
    scrollPaddingStart: headings.length ? sizes?.heading : 0,
    getItemKey: useCallback((index: number) => entries[index]?.key ?? index, [entries]),
    rangeExtractor: useCallback(
      (range: Range) => {
        sticky.current = headings.findLast((index) => index <= range.startIndex);
        const shown = new Set(defaultRangeExtractor(range));
        for (const index of [sticky.current, kept]) if (index !== undefined) shown.add(index);
        return [...shown].filter((index) => index < range.count).sort((a, b) => a - b);
      },
      [headings, kept],
    ),
  });
  useScrollAnchor(scroller, entries, rowsKey);
  useReveal(virtual.scrollToIndex, current, current === undefined ? undefined : indexes.get(current));
  const items = virtual.getVirtualItems(); // finds the heading at the top
  return { virtual, items, entries, indexes, sizes: sizes as RowSizes, sticky: sticky.current };
}

/** Shows the row of the open session. */
function useReveal(
  scrollToIndex: (index: number) => void,
  current: string | undefined,
  index: number | undefined,
) {
  const revealed = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (revealed.current === current || (current !== undefined && index === undefined)) return;
    revealed.current = current;
    if (index !== undefined) scrollToIndex(index);
  }, [scrollToIndex, current, index]);
}

/** Keeps the visible rows in place when entries above change. A list with other filters starts at the top. */
function useScrollAnchor(
  scroller: RefObject<HTMLElement | null>,
  entries: readonly Entry[],
  rowsKey: string,
): void {
  const before = useRef({ entries, rowsKey });
  useLayoutEffect(() => {
    const element = scroller.current;
    const was = before.current;
    before.current = { entries, rowsKey };
    if (!element || was.entries === entries) return;
    if (was.rowsKey !== rowsKey) {
      element.scrollTop = 0;
      return;
    }
    const { scrollTop } = element;
    if (scrollTop < 28) return;
    const starts = new Map(entries.map((one, index) => [one.key, { start: one.start, index }]));
    const first = was.entries.findIndex((one) => one.kind === "row" && one.start + one.size > scrollTop);
    if (first < 0) return;
    for (let index = first; index < Math.min(was.entries.length, first + 30); index++) {
      const entry = was.entries[index];
      const now = entry?.kind === "row" ? starts.get(entry.key) : undefined;
      if (!entry || !now) continue;
      // A row that moved far has changed itself: the offset of the list is that of another row.
      if (index !== now.index && Math.abs(index - now.index) > was.entries.length / 2) continue;
      if (now.start !== entry.start) element.scrollTop = scrollTop + now.start - entry.start;
      return;
    }
  }, [scroller, entries, rowsKey]);
}
