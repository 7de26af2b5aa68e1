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
  /** The number of its colour. By default its place. */
  readonly colour?: number;
}

export const OTHER = "Others";
/** The number of series with a colour of their own. */
export const MAX_SERIES = 7;
/** The colour of a series that is not a part of anything. */
export const ALL = 8;

/**
 * The series of the first names of `order`, and all others as one series. A name has the same colour in every chart
 * with the same order.
 */
export function seriesOf(
  cells: readonly Cell[],
  columns: readonly string[],
  order: readonly string[],
): Series[] {
  const indexes = new Map(columns.map((column, index) => [column, index]));
  const colours = new Map(order.slice(0, MAX_SERIES).map((name, colour) => [name, colour]));
  const rows = new Map<number, number[]>();
  for (const { column, series, value } of cells) {
    const index = indexes.get(column);
    if (index === undefined) continue;
    const colour = colours.get(series) ?? MAX_SERIES;
    const row = rows.get(colour) ?? columns.map(() => 0);
    row[index] = (row[index] ?? 0) + value;
    rows.set(colour, row);
  }
  return [...rows]
    .filter(([, values]) => sum(values) > 0)
    .sort(([first], [second]) => first - second)
    .map(([colour, values]) => ({
      name: colour === MAX_SERIES ? OTHER : (order[colour] ?? ""),
      values,
      colour,
    }));
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

/** The mean of each value and those before it, so many in total; NaN where there are fewer. */
export function movingAverage(values: readonly number[], most: number): number[] {
  let total = 0;
  return values.map((value, index) => {
    total += value - (values[index - most] ?? 0);
    return index < most - 1 ? Number.NaN : Math.max(0, total) / most;
  });
}
