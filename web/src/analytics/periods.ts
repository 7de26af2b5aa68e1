/** Time ranges: the selected one, the previous one, and their days, weeks and months. All in local time. */
import type { Step } from "../api/analytics";
import { day } from "../ui/format";

export const PRESETS = [
  { name: "7d", label: "Last 7 days", days: 7 },
  { name: "30d", label: "Last 30 days", days: 30 },
  { name: "90d", label: "Last 90 days", days: 90 },
  { name: "365d", label: "Last 365 days", days: 365 },
  { name: "all", label: "All time", days: null },
] as const;

/** A range from `since` (inclusive) to `until` (exclusive). Both are optional. */
export interface Span {
  readonly since?: Date;
  readonly until?: Date;
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The midnight at the start of a day; undefined if the day is invalid. */
export function midnightOf(day: string | null | undefined): Date | undefined {
  const found = DAY.exec(day ?? "");
  if (!found) return undefined;
  const [year, month, date] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const midnight = new Date(year, month - 1, date);
  return midnight.getMonth() === month - 1 && midnight.getDate() === date ? midnight : undefined;
}

/** 2026-03-04 */
export function formatDay(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(moment.getFullYear()).padStart(4, "0")}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

/** Adds days. Changes of daylight saving time do not matter. */
export const plusDays = (moment: Date, days: number): Date =>
  new Date(moment.getFullYear(), moment.getMonth(), moment.getDate() + days);

/** The range in the address: a preset, or from one day to another, both inclusive. */
export function spanOf(query: URLSearchParams, now: Date): Span {
  const since = midnightOf(query.get("from"));
  const last = midnightOf(query.get("to"));
  if (since || last) return { since, until: last && plusDays(last, 1) };
  const preset = PRESETS.find(({ name }) => name === (query.get("range") ?? "30d"));
  return preset?.days ? { since: plusDays(now, 1 - preset.days) } : {};
}

/** The preceding range of equal length; undefined if the range has no start. */
export function previous({ since, until }: Span, now: Date): Span | undefined {
  if (!since) return undefined;
  const days = daysBetween(since, until ?? plusDays(now, 1));
  return days > 0 ? { since: plusDays(since, -days), until: since } : undefined;
}

/** The number of midnights between two times. A day may have 23 hours. */
export const daysBetween = (first: Date, second: Date): number =>
  Math.round((second.getTime() - first.getTime()) / 86_400_000);

/** The step that gives a chart twenty to forty columns. */
export function defaultStep({ since, until }: Span, now: Date): Step {
  if (!since) return "week";
  const days = daysBetween(since, until ?? plusDays(now, 1));
  return days <= 45 ? "day" : days <= 200 ? "week" : "month";
}

/** The start of a period: a day, the Monday of a week, a month. */
export const startOf = (name: string): Date | undefined =>
  midnightOf(name.length === 7 ? `${name}-01` : name);

/** The name of the period that contains a time. */
export function nameOf(step: Step, moment: Date): string {
  if (step === "day") return formatDay(moment);
  if (step === "month") return formatDay(moment).slice(0, 7);
  return formatDay(plusDays(moment, -((moment.getDay() + 6) % 7)));
}

/** The name of the next period. */
export function following(step: Step, name: string): string {
  const start = startOf(name) ?? new Date(0);
  if (step === "month") return nameOf("month", new Date(start.getFullYear(), start.getMonth() + 1, 1));
  return formatDay(plusDays(start, step === "week" ? 7 : 1));
}

const MAX_PERIODS = 2000;

/** The names of all periods of a range without gaps. An open range ends at the first and last period with data. */
export function periodsIn(step: Step, span: Span, withData: readonly string[], now: Date): string[] {
  const known = withData.filter(Boolean).sort(); // without what has no time
  const first = span.since ? nameOf(step, span.since) : known[0];
  const ends = span.until ? plusDays(span.until, -1) : span.since ? now : undefined;
  const last = ends ? nameOf(step, ends) : known.at(-1);
  if (first === undefined || last === undefined) return [];
  const names = [first];
  for (
    let name = following(step, first);
    name <= last && names.length < MAX_PERIODS;
    name = following(step, name)
  )
    names.push(name);
  return names;
}

/** The range of a period, limited to another range. */
export function periodSpan(step: Step, name: string, within: Span): Span {
  const since = startOf(name);
  const until = startOf(following(step, name));
  return {
    since: since && within.since && since < within.since ? within.since : since,
    until: until && within.until && until > within.until ? within.until : until,
  };
}

const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });

/** 4 Mar, Mar 2026 */
export function shortName(step: Step, name: string): string {
  const start = startOf(name);
  return start ? (step === "month" ? MONTH : SHORT).format(start) : name;
}

/** 4 Mar 2026; week of 2 Mar 2026; Mar 2026 */
export function longName(step: Step, name: string): string {
  const start = startOf(name);
  if (!start) return name;
  return step === "month"
    ? MONTH.format(start)
    : `${step === "week" ? "week of " : ""}${day(start.toISOString())}`;
}
