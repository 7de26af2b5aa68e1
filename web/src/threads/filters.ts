/** The filters of the thread list, as parameters of the address and as a query of the server. */

import type { Query } from "../api/client";
import { href, type Params, TEXT } from "../ui/routing";
import { shortProject } from "./rows";
import { SORTS, type Sort, sortQuery } from "./sorts";

export type DateRange = "today" | "week" | "month" | "older";

export interface Filters {
  readonly agent?: string;
  readonly project?: string;
  readonly model?: string;
  readonly tool?: string;
  readonly tag?: string;
  readonly errors?: boolean;
  readonly running?: boolean;
  readonly pinned?: boolean;
  readonly date?: DateRange;
  readonly since?: string;
  readonly until?: string;
  readonly ids?: readonly string[];
  /** Not filters, but beside them in the address: the text in the search field, and the order. */
  readonly text?: string;
  readonly sort?: Sort;
}

export const DATE_RANGES: Readonly<Record<DateRange, string>> = {
  today: "Last 24 hours",
  week: "Last 7 days",
  month: "Last 30 days",
  older: "Older than 30 days",
};

const DAYS: Readonly<Record<DateRange, number>> = { today: 1, week: 7, month: 30, older: 30 };
const DAY = 86_400_000;
const TEXT_FILTERS = ["agent", "project", "model", "tool", "tag", "since", "until"] as const;
const TRUE_VALUES = new Set(["1", "true"]);

/** Parses the filters in the query of the address. */
export function readFilters(query: URLSearchParams): Filters {
  const found: Record<string, unknown> = {};
  for (const name of TEXT_FILTERS) {
    const value = query.get(name);
    if (value) found[name] = value;
  }
  for (const name of ["errors", "running", "pinned"])
    if (TRUE_VALUES.has(query.get(name) ?? "")) found[name] = true;
  const date = query.get("date");
  if (date && date in DATE_RANGES) found.date = date;
  const sort = query.get("sort");
  if (sort && sort in SORTS && sort !== "newest") found.sort = sort;
  const text = query.get(TEXT);
  if (text) found.text = text;
  const ids = (query.get("ids") ?? "").split(",").filter(Boolean);
  if (ids.length) found.ids = ids;
  return found;
}

/** The filters as parameters of the address. */
export function toParams({ text, errors, running, pinned, ids, ...rest }: Filters): Params {
  const flag = (value?: boolean) => (value ? 1 : null);
  return {
    [TEXT]: text,
    ...rest,
    errors: flag(errors),
    running: flag(running),
    pinned: flag(pinned),
    ids: ids?.join(","),
  };
}

/** The text, the filters and the order as the query of an address, without a question mark. */
export const addressOf = (filters: Filters): string => href([], toParams(filters)).replace(/^#\/\??/, "");

/** The order as a query of the server. */
export const toOrder = ({ sort }: Filters): Query => sortQuery(sort);

/** The filters as a query of the server. The time is rounded, so that responses can be cached for some minutes. */
export function toQuery(filters: Filters, now: number = Date.now()): Query {
  const { agent, project, model, tool, tag, errors, running, pinned, date, ids } = filters;
  const limit = date && new Date(Math.floor(now / 600_000) * 600_000 - DAYS[date] * DAY).toISOString();
  return {
    agent,
    project,
    model,
    tool,
    tag,
    hasErrors: errors,
    active: running,
    pinned,
    since: filters.since ?? (date === "older" ? undefined : limit),
    until: filters.until ?? (date === "older" ? limit : undefined),
    ids,
  };
}

export const isEmpty = ({ text: _, sort: __, ...filters }: Filters): boolean =>
  Object.values(filters).every((value) => value === undefined);

/** No filters, with the same text and order. */
export const cleared = ({ text, sort }: Filters): Filters => ({
  ...(text && { text }),
  ...(sort && { sort }),
});

export interface Chip {
  readonly names: readonly (keyof Filters)[];
  readonly text: string;
  /** The whole value, if the text is only a part of it. */
  readonly title?: string;
}

/** The active filters as chips that can be removed. */
export function chips(filters: Filters): readonly Chip[] {
  const found: Chip[] = [];
  for (const name of ["project", "agent", "model", "tool", "tag"] as const) {
    const value = filters[name];
    const text = name === "project" && value ? shortProject(value) : value;
    if (value) found.push({ names: [name], text: `${name}: ${text}`, title: value });
  }
  if (filters.date) found.push({ names: ["date"], text: DATE_RANGES[filters.date] });
  if (filters.since || filters.until) {
    const from = filters.since ? `from ${filters.since.slice(0, 10)}` : "";
    const to = filters.until ? `before ${filters.until.slice(0, 10)}` : "";
    found.push({ names: ["since", "until"], text: [from, to].filter(Boolean).join(" ") });
  }
  if (filters.errors) found.push({ names: ["errors"], text: "with errors" });
  if (filters.running) found.push({ names: ["running"], text: "running" });
  if (filters.pinned) found.push({ names: ["pinned"], text: "pinned" });
  if (filters.ids) found.push({ names: ["ids"], text: `${filters.ids.length} selected` });
  return found;
}

export function without(filters: Filters, names: readonly (keyof Filters)[]): Filters {
  return Object.fromEntries(
    Object.entries(filters).filter(([name]) => !names.includes(name as keyof Filters)),
  );
}
