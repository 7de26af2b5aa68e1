/** Scales of charts. */

const STEPS = [1, 2, 2.5, 5, 10];

/** About `wanted` round numbers from 0 to at least the maximum; whole numbers if `whole`. */
export function ticks(maximum: number, wanted = 4, whole = false): number[] {
  if (!(maximum > 0) || !Number.isFinite(maximum)) return [0, 1];
  const rough = maximum / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = STEPS.find((one) => one * power >= rough * (1 - 1e-9)) ?? 10;
  const step = whole ? Math.max(1, Math.ceil(factor * power - 1e-9)) : factor * power;
  const last = Math.ceil(maximum / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** A linear scale. */
export const linear =
  (from: readonly [number, number], to: readonly [number, number]) =>
  (value: number): number =>
    from[1] === from[0] ? to[0] : to[0] + ((value - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);

/** The interval of column labels that fit. */
export const labelEvery = (columns: number, width: number, labelWidth: number): number =>
  Math.max(1, Math.ceil((columns * labelWidth) / Math.max(1, width)));

/** The intervals without NaN. */
export function intervals(values: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  values.forEach((value, index) => {
    const last = found.at(-1);
    if (Number.isNaN(value)) return;
    if (last?.[1] === index) last[1] = index + 1;
    else found.push([index, index + 1]);
  });
  return found;
}

/** The SVG path through values. */
export const pathOf = (
  values: readonly number[],
  x: (column: number) => number,
  y: (value: number) => number,
): string =>
  intervals(values)
    .flatMap(([from, to]) =>
      values.slice(from, to).map((value, index) => {
        const point = `${x(from + index).toFixed(1)} ${y(value).toFixed(1)}`;
        return `${index ? "L" : "M"}${point}`;
      }),
    )
    .join("");
