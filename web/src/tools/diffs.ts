/** The lines of a change with their numbers and the changed words. */
import { diffWordsWithSpace } from "diff";
import type { FileChange, Hunk, ToolCallPart } from "../partita.gen";
import { textOf } from "./call";

export type Mark = " " | "+" | "-";

/** A hunk with its lines, each with its mark in front. */
export type HunkLines = Pick<Hunk, "oldStart" | "newStart"> & { readonly lines: readonly string[] };

const split = (text: string): string[] => (text ? text.replace(/\n$/, "").split("\n") : []);

/** The hunks of a change. Hunks that are a whole text are split into lines. */
export const hunksOf = (part: ToolCallPart, { hunks = [] }: FileChange): readonly HunkLines[] =>
  hunks.map(({ lines = [], text, oldStart, newStart }) => ({
    lines: text ? split(textOf(part, text)).map((line) => `+${line}`) : lines,
    oldStart,
    newStart,
  }));

/** A piece of a changed line. */
export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

/** A line with its numbers. Lines that replace another have pieces. */
export interface Row {
  readonly mark: Mark;
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
  readonly pieces?: readonly Piece[];
}

/** The lines of a hunk with numbers and changed words. */
export function rowsOf(hunk: HunkLines): Row[] {
  const rows: Row[] = [];
  let { oldStart: old, newStart: fresh } = hunk;
  for (const line of hunk.lines) {
    const mark = line[0] as Mark;
    rows.push({
      mark,
      text: line.slice(1),
      old: mark === "+" ? undefined : old,
      new: mark === "-" ? undefined : fresh,
    });
    if (old !== undefined && mark !== "+") old++;
    if (fresh !== undefined && mark !== "-") fresh++;
  }
  return withWordChanges(rows);
}

const MAX_LINE_LENGTH = 1000;
/** Lines with a smaller common part are not compared word by word. */
const MIN_COMMON = 0.3;

/** Compares the first removed line with the first added line after it, and so on. */
function withWordChanges(rows: Row[]): Row[] {
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(rows, at, "-");
    const added = runOf(rows, at + removed, "+");
    for (let n = 0; n < Math.min(removed, added); n++) markWords(rows, at + n, at + removed + n);
    at += removed + added || 1;
  }
  return rows;
}

function runOf(rows: readonly Row[], at: number, mark: Mark): number {
  let length = 0;
  while (rows[at + length]?.mark === mark) length++;
  return length;
}

function markWords(rows: Row[], removed: number, added: number): void {
  const [before, after] = [rows[removed], rows[added]];
  if (!before || !after || Math.max(before.text.length, after.text.length) > MAX_LINE_LENGTH) return;
  const found = diffWordsWithSpace(before.text, after.text);
  const same = found
    .filter((one) => !one.added && !one.removed)
    .reduce((sum, one) => sum + one.value.length, 0);
  if (same < MIN_COMMON * Math.max(before.text.length, after.text.length)) return;
  const pieces = (excluded: "added" | "removed"): Piece[] =>
    found
      .filter((one) => !one[excluded])
      .map((one) => ({ text: one.value, changed: Boolean(one.added || one.removed) }));
  rows[removed] = { ...before, pieces: pieces("added") };
  rows[added] = { ...after, pieces: pieces("removed") };
}

/** Pairs of rows for the side-by-side view: old on the left, new on the right. */
export function pairs(rows: readonly Row[]): [Row | null, Row | null][] {
  const found: [Row | null, Row | null][] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    const removed = runOf(rows, at, "-");
    const added = runOf(rows, at + removed, "+");
    if (row && removed + added === 0) found.push([row, row]);
    for (let n = 0; n < Math.max(removed, added); n++) {
      found.push([
        n < removed ? (rows[at + n] ?? null) : null,
        n < added ? (rows[at + removed + n] ?? null) : null,
      ]);
    }
    at += removed + added || 1;
  }
  return found;
}
