/** Formats numbers, times and sizes for display. */

const COUNT = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** 12,345 */
export const count = (value: number): string => COUNT.format(value);

/** 12.3K */
export const compact = (value: number): string => COMPACT.format(value);

/** $0.0042, $1.20, $1,234 */
export function money(value: number): string {
  if (value === 0) return "$0";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 0.1 ? 2 : 4;
  return `$${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** 840 ms, 4.2 s, 3 min 20 s, 2 h 5 min */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
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

/** just now, 5 min ago, 14:02, Mon 14:02, 3 Mar 2026 */
export function ago(iso: string, now: number = Date.now()): string {
  const then = new Date(iso);
  const seconds = (now - then.getTime()) / 1000;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (new Date(now).toDateString() === then.toDateString()) return CLOCK.format(then);
  return DAY.format(then);
}

/** "1 message", "3 messages" */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
