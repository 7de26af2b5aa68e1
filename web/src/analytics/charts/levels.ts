/** The levels of the values of a heatmap. */

/** The number of levels above zero. */
export const LEVELS = 4;

/** The largest value of each level but the last: each level has about as many different values. */
export function levelsOf(values: readonly number[]): number[] {
  const sorted = [...new Set(values.filter((value) => value > 0))].sort((a, b) => a - b);
  return Array.from(
    { length: LEVELS - 1 },
    (_, level) => sorted[Math.ceil(((level + 1) / LEVELS) * sorted.length) - 1] ?? 0,
  );
}

/** The level of a value: 0 if there is nothing, otherwise from 1 to 4. */
export const levelOf = (limits: readonly number[], value: number): number =>
  value > 0 ? 1 + limits.filter((limit) => limit < value).length : 0;
