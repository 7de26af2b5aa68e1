/** Stacked series. */

export interface Cell {
  readonly column: string;
  readonly series: string;
  readonly value: number;
}

export interface Series {
  readonly name: string;
  /** One value per column. */
  readonly values: readonly number[];
}

export const OTHER = "Others";

/** The largest series, and the rest as one series. Ordered by sum, so that colours are consistent between charts. */
export function seriesOf(cells: readonly Cell[], columns: readonly string[], most = 6): Series[] {
  const indexes = new Map(columns.map((column, index) => [column, index]));
  const rows = new Map<string, number[]>();
  for (const { column, series, value } of cells) {
    const index = indexes.get(column);
    if (index === undefined) continue;
    const row = rows.get(series) ?? columns.map(() => 0);
    row[index] = (row[index] ?? 0) + value;
    rows.set(series, row);
  }
  const all = [...rows].map(([name, values]) => ({ name, values })).filter(({ values }) => sum(values) > 0);
  const ranked = all.sort((a, b) => sum(b.values) - sum(a.values) || (a.name < b.name ? -1 : 1));
  if (ranked.length <= most) return ranked;
  const rest = ranked.slice(most - 1);
  const others = columns.map((_, index) => sum(rest.map(({ values }) => values[index] ?? 0)));
  return [...ranked.slice(0, most - 1), { name: OTHER, values: others }];
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The start and end of each value of a column in the stack. */
export function stacked(series: readonly Series[], column: number): [number, number][] {
  let top = 0;
  return series.map(({ values }) => {
    const from = top;
    top += values[column] ?? 0;
    return [from, top];
  });
}

/** The sum of each column. */
export const totals = (series: readonly Series[], columns: number): number[] =>
  Array.from({ length: columns }, (_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
