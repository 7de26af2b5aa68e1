/** Squarified treemaps: rectangles whose areas are proportional to values, close to squares (Bruls, Huizing, van Wijk). */

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The rectangles of values, which are sorted from the largest to the smallest and larger than 0. */
export function squarify(values: readonly number[], within: Rect): Rect[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  const scale = total > 0 ? (within.width * within.height) / total : 0;
  const found: Rect[] = [];
  let free = within;
  let start = 0;
  while (start < values.length) {
    const side = Math.min(free.width, free.height);
    let end = start + 1;
    let area = (values[start] ?? 0) * scale;
    while (end < values.length) {
      const next = area + (values[end] ?? 0) * scale;
      const largest = (values[start] ?? 0) * scale;
      const before = worst(largest, (values[end - 1] ?? 0) * scale, area, side);
      if (worst(largest, (values[end] ?? 0) * scale, next, side) > before) break;
      area = next;
      end += 1;
    }
    free = placeRow(values.slice(start, end), scale, area, free, found);
    start = end;
  }
  return found;
}

/** The largest ratio of the sides in a row. */
function worst(largest: number, smallest: number, area: number, side: number): number {
  const square = side * side;
  return Math.max((square * largest) / (area * area), (area * area) / (square * smallest));
}

/** Places a row along the shorter side. Returns the free rest. */
function placeRow(values: readonly number[], scale: number, area: number, free: Rect, found: Rect[]): Rect {
  const isColumn = free.width >= free.height;
  const side = isColumn ? free.height : free.width;
  const thickness = side > 0 ? area / side : 0;
  let at = isColumn ? free.y : free.x;
  for (const value of values) {
    const length = thickness > 0 ? (value * scale) / thickness : 0;
    found.push(
      isColumn
        ? { x: free.x, y: at, width: thickness, height: length }
        : { x: at, y: free.y, width: length, height: thickness },
    );
    at += length;
  }
  return isColumn
    ? { ...free, x: free.x + thickness, width: Math.max(0, free.width - thickness) }
    : { ...free, y: free.y + thickness, height: Math.max(0, free.height - thickness) };
}

/** Splits sorted items into those that get at least `least` of an area, and the rest: one item, or at least two. */
export function splitSmall<T extends { readonly value: number }>(
  items: readonly T[],
  area: number,
  least: number,
): readonly [large: readonly T[], small: readonly T[]] {
  const sorted = items.filter(({ value }) => value > 0).sort((first, second) => second.value - first.value);
  const total = sorted.reduce((sum, { value }) => sum + value, 0);
  const large = sorted.filter(({ value }) => (value / total) * area >= least);
  const small = sorted.slice(large.length);
  return small.length === 1 ? [sorted, []] : [large, small];
}
