/** Which threads are shown: as it stands in the address, and as the server is asked. */

import type { Query } from "../api/client";
import type { Params } from "../ui/routing";

export type Stretch = "today" | "week" | "month" | "older";

export interface Filters {
  readonly agent?: string;
  readonly project?: string;
  readonly model?: string;
  readonly tool?: string;
  readonly errors?: boolean;
  readonly pinned?: boolean;
  readonly date?: Stretch;
  readonly since?: string;
  readonly until?: string;
  readonly ids?: readonly string[];
}

export const STRETCHES: Readonly<Record<Stretch, string>> = {
  today: "Last 24 hours",
  week: "Last 7 days",
  month: "Last 30 days",
  older: "Older than 30 days",
};

const DAYS: Readonly<Record<Stretch, number>> = { today: 1, week: 7, month: 30, older: 30 };
const DAY = 86_400_000;
const TEXTS = ["agent", "project", "model", "tool", "since", "until"] as const;
const YES = new Set(["1", "true"]);

/** The filters that a query of the address holds. */
export function readFilters(query: URLSearchParams): Filters {
  const found: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const value = query.get(name);
    if (value) found[name] = value;
  }
  for (const name of ["errors", "pinned"]) if (YES.has(query.get(name) ?? "")) found[name] = true;
  const date = query.get("date");
  if (date && date in STRETCHES) found.date = date;
  const ids = (query.get("ids") ?? "").split(",").filter(Boolean);
  if (ids.length) found.ids = ids;
  return found;
}

/** The same, for the address. */
export function toParams({ errors, pinned, ids, ...rest }: Filters): Params {
  return { ...rest, errors: errors ? 1 : null, pinned: pinned ? 1 : null, ids: ids?.join(",") };
}

/** The same, for the server. The clock is rounded, so that the same filter is the same question for a while. */
export function toQuery(filters: Filters, now: number = Date.now()): Query {
  const { agent, project, model, tool, errors, pinned, date, ids } = filters;
  const edge = date && new Date(Math.floor(now / 600_000) * 600_000 - DAYS[date] * DAY).toISOString();
  return {
    agent,
    project,
    model,
    tool,
    hasErrors: errors,
    pinned,
    since: filters.since ?? (date === "older" ? undefined : edge),
    until: filters.until ?? (date === "older" ? edge : undefined),
    ids,
  };
}

export const isEmpty = (filters: Filters): boolean =>
  Object.values(filters).every((value) => value === undefined);

export interface Chip {
  readonly names: readonly (keyof Filters)[];
  readonly text: string;
}

/** Each filter that narrows, as it is shown and can be taken away. */
export function chips(filters: Filters): readonly Chip[] {
  const found: Chip[] = [];
  for (const name of ["agent", "project", "model", "tool"] as const) {
    const value = filters[name];
    if (value) found.push({ names: [name], text: `${name}: ${value}` });
  }
  if (filters.date) found.push({ names: ["date"], text: STRETCHES[filters.date] });
  if (filters.since || filters.until) {
    const from = filters.since ? `from ${filters.since.slice(0, 10)}` : "";
    const to = filters.until ? `before ${filters.until.slice(0, 10)}` : "";
    found.push({ names: ["since", "until"], text: [from, to].filter(Boolean).join(" ") });
  }
  if (filters.errors) found.push({ names: ["errors"], text: "with errors" });
  if (filters.pinned) found.push({ names: ["pinned"], text: "pinned" });
  if (filters.ids) found.push({ names: ["ids"], text: `${filters.ids.length} chosen` });
  return found;
}

export function without(filters: Filters, names: readonly (keyof Filters)[]): Filters {
  return Object.fromEntries(
    Object.entries(filters).filter(([name]) => !names.includes(name as keyof Filters)),
  );
}
