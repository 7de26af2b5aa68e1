/** Statistics over time as series, and the threads of each cell. */
import type { Split, Stat } from "../api/analytics";
import { OTHER, type Series, seriesOf } from "./charts/stack";
import type { Order } from "./colours";
import { labelOf } from "./labels";

export interface TimeSeries {
  readonly periods: readonly string[];
  readonly series: readonly Series[];
  /** The key of a series for the filter; undefined for the combined series. */
  readonly keyOf: (series: string) => string | undefined;
  /** The threads of a period or of a series in it; undefined if there are too many for a link. */
  readonly idsOf: (period: string, series?: string) => readonly string[] | undefined;
}

const MAX_IDS = 100;

export function timeSeries(
  stats: readonly Stat[],
  periods: readonly string[],
  split: Split,
  order: Order,
  value: (stat: Stat) => number,
): TimeSeries {
  const rows = stats.filter((stat) => value(stat) > 0);
  const nameOf = (stat: Stat) => labelOf(split, stat.key[1]);
  const cells = rows.map((stat) => ({ column: stat.key[0] ?? "", series: nameOf(stat), value: value(stat) }));
  const series = seriesOf(cells, periods, order);
  const shown = new Set(series.map(({ name }) => name));
  const byPeriod = groupByPeriod(rows);
  const idsOf = (period: string, name?: string) => {
    const all = byPeriod.get(period) ?? [];
    const wanted =
      name === undefined
        ? all
        : all.filter((stat) => (shown.has(nameOf(stat)) ? nameOf(stat) : OTHER) === name);
    return threadIdsOf(wanted);
  };
  const keys = new Map(rows.map((stat) => [nameOf(stat), stat.key[1] ?? undefined]));
  return { periods, series, keyOf: (name) => keys.get(name), idsOf };
}

/** The threads of several rows; undefined if there are too many. */
export function threadIdsOf(rows: readonly Pick<Stat, "threadIds">[]): readonly string[] | undefined {
  if (rows.some(({ threadIds }) => threadIds === undefined)) return undefined;
  const ids = new Set(rows.flatMap(({ threadIds }) => threadIds ?? []));
  return ids.size > MAX_IDS ? undefined : [...ids];
}

/** The rows of each period. */
export function groupByPeriod(stats: readonly Stat[]): Map<string, Stat[]> {
  const found = new Map<string, Stat[]>();
  for (const stat of stats) {
    const period = stat.key[0] ?? "";
    found.set(period, [...(found.get(period) ?? []), stat]);
  }
  return found;
}
