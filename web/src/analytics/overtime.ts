/** Statistics over time as series, and the threads behind each of their cells. */
import type { Split, Stat } from "../api/analytics";
import { OTHER, type Series, seriesOf } from "./charts/stack";
import { nameOfKey } from "./names";

export interface Over {
  readonly periods: readonly string[];
  readonly series: readonly Series[];
  /** What a series is the filter of; undefined when it is none. */
  readonly keyOf: (series: string) => string | undefined;
  /** The threads of a period, or of one series in it; undefined when they are too many to be named. */
  readonly idsOf: (period: string, series?: string) => readonly string[] | undefined;
}

const MOST_IDS = 100;

export function overTime(
  stats: readonly Stat[],
  periods: readonly string[],
  split: Split,
  value: (stat: Stat) => number,
): Over {
  const rows = stats.filter((stat) => value(stat) > 0);
  const nameOf = (stat: Stat) => nameOfKey(split, stat.key[1]);
  const cells = rows.map((stat) => ({ column: stat.key[0] ?? "", series: nameOf(stat), value: value(stat) }));
  const series = seriesOf(cells, periods);
  const shown = new Set(series.map(({ name }) => name));
  const byPeriod = byPeriodOf(rows);
  const idsOf = (period: string, name?: string) => {
    const all = byPeriod.get(period) ?? [];
    const wanted =
      name === undefined
        ? all
        : all.filter((stat) => (shown.has(nameOf(stat)) ? nameOf(stat) : OTHER) === name);
    return together(wanted);
  };
  const keys = new Map(rows.map((stat) => [nameOf(stat), stat.key[1] ?? undefined]));
  return { periods, series, keyOf: (name) => keys.get(name), idsOf };
}

/** The threads of several rows. */
export function together(rows: readonly Pick<Stat, "threadIds">[]): readonly string[] | undefined {
  if (rows.some(({ threadIds }) => threadIds === undefined)) return undefined;
  const ids = new Set(rows.flatMap(({ threadIds }) => threadIds ?? []));
  return ids.size > MOST_IDS ? undefined : [...ids];
}

/** The rows of each period. */
export function byPeriodOf(stats: readonly Stat[]): Map<string, Stat[]> {
  const found = new Map<string, Stat[]>();
  for (const stat of stats) {
    const period = stat.key[0] ?? "";
    found.set(period, [...(found.get(period) ?? []), stat]);
  }
  return found;
}
