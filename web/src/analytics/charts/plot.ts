/** The frame of charts with columns. */
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
const MARGINS = { left: 52, top: 10, right: 8, bottom: 24 };

export function frameOf(width: number, maximum: number, whole: boolean): Frame {
  const marks = ticks(maximum, 4, whole);
  const bottom = HEIGHT - MARGINS.bottom;
  return {
    left: MARGINS.left,
    top: MARGINS.top,
    right: Math.max(MARGINS.left + 1, width - MARGINS.right),
    bottom,
    ticks: marks,
    y: linear([0, marks.at(-1) ?? 1], [bottom, MARGINS.top]),
  };
}

/** A point of a chart that is selectable by keyboard, with its link. */
export interface Point {
  readonly label: string;
  readonly lines: readonly { readonly name: string; readonly text: string; readonly series?: number }[];
  readonly href?: string;
}
