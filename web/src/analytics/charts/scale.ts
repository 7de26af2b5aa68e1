/** From numbers to places on a chart. */

const STEPS = [1, 2, 2.5, 5, 10];

/** Round numbers from 0 up to at least the greatest value, some `wanted` of them; of whole things, whole ones. */
export function ticks(greatest: number, wanted = 4, whole = false): number[] {
  if (!(greatest > 0) || !Number.isFinite(greatest)) return [0, 1];
  const rough = greatest / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = STEPS.find((one) => one * power >= rough * (1 - 1e-9)) ?? 10;
  const step = whole ? Math.max(1, Math.ceil(factor * power - 1e-9)) : factor * power;
  const last = Math.ceil(greatest / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** A line through two points. */
export const linear =
  (from: readonly [number, number], to: readonly [number, number]) =>
  (value: number): number =>
    from[1] === from[0] ? to[0] : to[0] + ((value - from[0]) / (from[1] - from[0])) * (to[1] - to[0]);

/** Every how many columns a label has room. */
export const labelEvery = (columns: number, width: number, labelWidth: number): number =>
  Math.max(1, Math.ceil((columns * labelWidth) / Math.max(1, width)));

/** From where to where there are numbers: `NaN` is a gap. */
export function stretches(values: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  values.forEach((value, index) => {
    const last = found.at(-1);
    if (Number.isNaN(value)) return;
    if (last?.[1] === index) last[1] = index + 1;
    else found.push([index, index + 1]);
  });
  return found;
}

/** The line through values, as SVG writes it. */
export const pathOf = (
  values: readonly number[],
  x: (column: number) => number,
  y: (value: number) => number,
): string =>
  stretches(values)
    .flatMap(([from, to]) =>
      values.slice(from, to).map((value, index) => {
        const point = `${x(from + index).toFixed(1)} ${y(value).toFixed(1)}`;
        return `${index ? "L" : "M"}${point}`;
      }),
    )
    .join("");
