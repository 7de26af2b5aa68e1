/** Splits a text of any size into rows of equal height. Long lines are wrapped. */
import type { Range } from "./positions";

export interface Rows {
  readonly count: number;
  /** The range of a row, and the line number if the row starts a line. */
  readonly row: (index: number) => Range & { readonly line: number | null };
  /** The row that contains an offset. */
  readonly at: (offset: number) => number;
}

export function rowsOf(text: string, columns: number): Rows {
  const starts: number[] = [];
  const lines: number[] = [];
  let line = 0;
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    line++;
    starts.push(start);
    lines.push(line);
    for (let at = start + columns; at < end; at += columns) {
      if (isLowSurrogate(text.charCodeAt(at))) at++;
      starts.push(at);
      lines.push(0);
    }
    start = end + 1;
  }
  const offsets = Uint32Array.from(starts);
  const numbers = Uint32Array.from(lines);
  return {
    count: offsets.length,
    row: (index) => {
      const from = offsets[index] ?? 0;
      const next = offsets[index + 1];
      const to = next === undefined ? text.length : numbers[index + 1] ? next - 1 : next;
      return { start: from, end: Math.max(from, to), line: numbers[index] || null };
    },
    at: (offset) => last(offsets, offset),
  };
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The index of the last offset that is at most `wanted`. */
function last(offsets: Uint32Array, wanted: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

export interface Mark extends Range {
  readonly id: string;
  readonly why: string;
  readonly tone: "loss" | "note" | "error";
}

export interface Piece {
  readonly text: string;
  readonly mark: Mark | null;
}

/** Splits a row into marked and unmarked pieces. `marks` are sorted by start; the innermost mark wins. */
export function piecesOf(text: string, row: Range, marks: readonly Mark[]): readonly Piece[] {
  const edges = new Set([row.start, row.end]);
  for (const mark of marks) {
    if (mark.start > row.start && mark.start < row.end) edges.add(mark.start);
    if (mark.end > row.start && mark.end < row.end) edges.add(mark.end);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (let at = 0; at + 1 < sorted.length; at++) {
    const start = sorted[at] ?? 0;
    const end = sorted[at + 1] ?? 0;
    const mark = marks.findLast((one) => one.start <= start && one.end >= end) ?? null;
    pieces.push({ text: text.slice(start, end), mark });
  }
  return pieces;
}

/** The marks that overlap a row. */
export function marksIn(marks: readonly Mark[], row: Range): readonly Mark[] {
  return marks.filter((mark) => mark.start < row.end && mark.end > row.start);
}
