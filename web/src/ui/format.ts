/** Formats numbers, times and sizes for display. */

const COUNT = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short" });

/** 12,345 */
export const count = (value: number): string => COUNT.format(value);

/** 12.3K */
export const compact = (value: number): string => COMPACT.format(value);

const digits = (count: number) =>
  new Intl.NumberFormat("en", { minimumFractionDigits: count, maximumFractionDigits: count });
const [WHOLE, CENTS, FRACTIONS] = [digits(0), digits(2), digits(4)];

/** $0.0042, $1.20, $1,234 */
export function money(value: number): string {
  if (value === 0) return "$0";
  const amount = Math.abs(value);
  return `$${(amount >= 100 ? WHOLE : amount >= 0.1 ? CENTS : FRACTIONS).format(value)}`;
}

/** 840 ms, 4.2 s, 12 s, 3 min, 3 min 20 s, 2 h 5 min, 3 d 4 h */
export function duration(seconds: number): string {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return twoUnits(whole, 60, "min", "s");
  const minutes = Math.floor(whole / 60);
  if (minutes < 24 * 60) return twoUnits(minutes, 60, "h", "min");
  return twoUnits(Math.floor(minutes / 60), 24, "d", "h");
}

/** A value in two units; the smaller one is left out if it is zero. */
function twoUnits(value: number, scale: number, large: string, small: string): string {
  const rest = value % scale;
  return `${Math.floor(value / scale)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
}

/** 512 B, 16 KB, 1.4 MB */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  for (const [unit, scale] of [
    ["KB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ] as const) {
    if (size < scale * 1000) return `${(size / scale).toFixed(size < scale * 10 ? 1 : 0)} ${unit}`;
  }
  return `${(size / 1e12).toFixed(1)} TB`;
}

/** 3 Mar 2026, 14:02:11 */
export const moment = (iso: string): string => MOMENT.format(new Date(iso));

/** 14:02 */
export const clock = (iso: string): string => CLOCK.format(new Date(iso));

/** 3 Mar 2026 */
export const day = (iso: string): string => DAY.format(new Date(iso));

/** Days before today for which the name of the day is unambiguous. */
const DAYS_WITH_NAMES = 6;

/** just now, 5 min ago, 14:02, Mon 14:02, 3 Mar 2026, 14:02 */
export function ago(iso: string, now: number = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (seconds >= 0 && seconds < 45) return "just now";
  if (seconds >= 0 && seconds < 3570) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  const days = daysBetween(new Date(iso), new Date(now));
  if (days === 0) return clock(iso);
  if (days > 0 && days <= DAYS_WITH_NAMES) return `${WEEKDAY.format(new Date(iso))} ${clock(iso)}`;
  return `${day(iso)}, ${clock(iso)}`;
}

/** The number of midnights between two times. */
function daysBetween(from: Date, to: Date): number {
  const midnight = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(to) - midnight(from)) / 86_400_000);
}

/** "1 message", "3 messages" */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** "exit code" → "Exit code" */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
