/** What charts of values over columns have in common. */
import { linear, ticks } from "./scale";

export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
}

export const HEIGHT = 210;
const EDGE = { left: 52, top: 10, right: 8, bottom: 24 };

export function frameOf(width: number, greatest: number, whole: boolean): Frame {
  const marks = ticks(greatest, 4, whole);
  const bottom = HEIGHT - EDGE.bottom;
  return {
    left: EDGE.left,
    top: EDGE.top,
    right: Math.max(EDGE.left + 1, width - EDGE.right),
    bottom,
    ticks: marks,
    y: linear([0, marks.at(-1) ?? 1], [bottom, EDGE.top]),
  };
}

/** A point of a chart that can be reached by keys, and what is behind it. */
export interface Point {
  readonly label: string;
  readonly lines: readonly { readonly name: string; readonly text: string; readonly series?: number }[];
  readonly href?: string;
}
