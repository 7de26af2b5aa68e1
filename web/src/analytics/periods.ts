/** Spans of time: what is asked for, what came before it, and the days, weeks and months in it. All in local time. */
import type { Step } from "../api/analytics";

export const PRESETS = [
  { name: "7d", label: "Last 7 days", days: 7 },
  { name: "30d", label: "Last 30 days", days: 30 },
  { name: "90d", label: "Last 90 days", days: 90 },
  { name: "365d", label: "Last 365 days", days: 365 },
  { name: "all", label: "All time", days: null },
] as const;

/** From its first moment up to, not including, its end. Without one of them it is open there. */
export interface Span {
  readonly since?: Date;
  readonly until?: Date;
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The midnight at which a day begins; undefined when there is no such day. */
export function midnightOf(day: string | null | undefined): Date | undefined {
  const found = DAY.exec(day ?? "");
  if (!found) return undefined;
  const [year, month, date] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const midnight = new Date(year, month - 1, date);
  return midnight.getMonth() === month - 1 && midnight.getDate() === date ? midnight : undefined;
}

/** 2026-03-04 */
export function nameOfDay(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(moment.getFullYear()).padStart(4, "0")}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

/** The same hour so many days later, whatever the clocks did meanwhile. */
export const plusDays = (moment: Date, days: number): Date =>
  new Date(moment.getFullYear(), moment.getMonth(), moment.getDate() + days);

/** The span that the address names: a preset, or two days, both of which are in it. */
export function spanOf(query: URLSearchParams, now: Date): Span {
  const since = midnightOf(query.get("from"));
  const last = midnightOf(query.get("to"));
  if (since || last) return { since, until: last && plusDays(last, 1) };
  const preset = PRESETS.find(({ name }) => name === (query.get("range") ?? "30d"));
  return preset?.days ? { since: plusDays(now, 1 - preset.days) } : {};
}

/** As many days just before; undefined when the span has no beginning. */
export function previous({ since, until }: Span, now: Date): Span | undefined {
  if (!since) return undefined;
  const days = daysBetween(since, until ?? plusDays(now, 1));
  return days > 0 ? { since: plusDays(since, -days), until: since } : undefined;
}

/** How many midnights there are from one to the other. A day may have 23 hours. */
export const daysBetween = (first: Date, second: Date): number =>
  Math.round((second.getTime() - first.getTime()) / 86_400_000);

/** Steps that give a chart some twenty to forty columns. */
export function usualStep({ since, until }: Span, now: Date): Step {
  if (!since) return "week";
  const days = daysBetween(since, until ?? plusDays(now, 1));
  return days <= 45 ? "day" : days <= 200 ? "week" : "month";
}

/** Where the period of a name begins: a day, the Monday of a week, a month. */
export const startOf = (name: string): Date | undefined =>
  midnightOf(name.length === 7 ? `${name}-01` : name);

/** The name of the period that a moment is in. */
export function nameOf(step: Step, moment: Date): string {
  if (step === "day") return nameOfDay(moment);
  if (step === "month") return nameOfDay(moment).slice(0, 7);
  return nameOfDay(plusDays(moment, -((moment.getDay() + 6) % 7)));
}

/** The name of the period after this one. */
export function following(step: Step, name: string): string {
  const start = startOf(name) ?? new Date(0);
  if (step === "month") return nameOf("month", new Date(start.getFullYear(), start.getMonth() + 1, 1));
  return nameOfDay(plusDays(start, step === "week" ? 7 : 1));
}

const MOST = 2000;

/** The names of all periods from the first to the last that is told of or asked for, without gaps. */
export function periodsIn(step: Step, span: Span, told: readonly string[], now: Date): string[] {
  const known = [...told].sort();
  const first = span.since ? nameOf(step, span.since) : known[0];
  const ends = span.until ? plusDays(span.until, -1) : span.since ? now : undefined;
  const last = ends ? nameOf(step, ends) : known.at(-1);
  if (first === undefined || last === undefined) return [];
  const names = [first];
  for (let name = following(step, first); name <= last && names.length < MOST; name = following(step, name))
    names.push(name);
  return names;
}

/** A period as a span, within another. */
export function periodSpan(step: Step, name: string, within: Span): Span {
  const since = startOf(name);
  const until = startOf(following(step, name));
  return {
    since: since && within.since && since < within.since ? within.since : since,
    until: until && within.until && until > within.until ? within.until : until,
  };
}

const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const LONG = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
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
  return step === "month" ? MONTH.format(start) : `${step === "week" ? "week of " : ""}${LONG.format(start)}`;
}
