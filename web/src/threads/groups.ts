/** The entries of the list: sessions in groups by time, with the heights of headings and rows. */
import type { ThreadSummary } from "../api/threads";
import { isByTime, type Sort } from "./sorts";

export interface Heading {
  readonly kind: "heading";
  readonly key: string;
  readonly label: string;
  readonly size: number;
  readonly start: number;
}

export interface Item {
  readonly kind: "row";
  readonly key: string;
  readonly row: ThreadSummary;
  /** The place of the row among all rows, from 0. */
  readonly position: number;
  readonly size: number;
  readonly start: number;
}

export type Entry = Heading | Item;

export interface Sizes {
  readonly heading: number;
  readonly row: (row: ThreadSummary) => number;
}

const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });

/** Midnight of the day, some days before. */
const midnight = (of: Date, before = 0): number =>
  new Date(of.getFullYear(), of.getMonth(), of.getDate() - before).getTime();

type Grouping = (iso: string | null | undefined) => string;

/** Names the group of a time: Today, Yesterday, This week, Last week, or its month. Weeks start on Monday. */
export function groupingAt(now: number): Grouping {
  const today = new Date(now);
  const weekday = (today.getDay() + 6) % 7;
  const starts = [
    [midnight(today), "Today"],
    [midnight(today, 1), "Yesterday"],
    [midnight(today, weekday), "This week"],
    [midnight(today, weekday + 7), "Last week"],
  ] as const;
  return (iso) => {
    if (!iso) return "Unknown date";
    const time = Date.parse(iso);
    return starts.find(([start]) => time >= start)?.[1] ?? MONTH.format(time);
  };
}

/** The rows in their order, with a heading before each group if they are in the order of time. */
export function entriesOf(
  rows: readonly ThreadSummary[],
  sort: Sort | undefined,
  now: number,
  sizes: Sizes,
): readonly Entry[] {
  const entries: Entry[] = [];
  const groupOf = groupingAt(now);
  let group: string | null = null;
  let start = 0;
  rows.forEach((row, position) => {
    const label = row.pinned ? "Pinned" : groupOf(row.thread.updatedAt);
    if (isByTime(sort) && label !== group) {
      group = label;
      entries.push({ kind: "heading", key: `heading ${label}`, label, size: sizes.heading, start });
      start += sizes.heading;
    }
    const size = sizes.row(row);
    entries.push({ kind: "row", key: row.thread.id, row, position, size, start });
    start += size;
  });
  return entries;
}

const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DATE_AND_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** 14:02 today, Mon 14:02 yesterday, Mon in the days before, else 3 Mar, or 3 Mar 2025. */
export function shortTime(iso: string, now: number): string {
  const date = new Date(iso);
  const today = new Date(now);
  const day = midnight(date);
  if (day === midnight(today)) return CLOCK.format(date);
  if (day === midnight(today, 1)) return `${WEEKDAY.format(date)} ${CLOCK.format(date)}`;
  if (day < midnight(today) && day >= midnight(today, 6)) return WEEKDAY.format(date);
  return (date.getFullYear() === today.getFullYear() ? DATE : DATE_AND_YEAR).format(date);
}
