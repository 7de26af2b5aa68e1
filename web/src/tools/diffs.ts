/** The lines of a change, with their numbers and with the words that changed. */
import { diffWordsWithSpace } from "diff";
import type { FileChange, Hunk, ToolCallPart } from "../partita.gen";
import { textOf } from "./call";

export type Mark = " " | "+" | "-";

/** A hunk whose lines are there, each with its mark in front. */
export type HunkLines = Pick<Hunk, "oldStart" | "newStart"> & { readonly lines: readonly string[] };

const split = (text: string): string[] => (text ? text.replace(/\n$/, "").split("\n") : []);

/** The hunks of a change, those that are a whole text as lines, too. */
export const hunksOf = (part: ToolCallPart, { hunks = [] }: FileChange): readonly HunkLines[] =>
  hunks.map(({ lines = [], text, oldStart, newStart }) => ({
    lines: text ? split(textOf(part, text)).map((line) => `+${line}`) : lines,
    oldStart,
    newStart,
  }));

/** A piece of a changed line, and whether it is what changed. */
export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

/** A line with its numbers, and its pieces where it took the place of another. */
export interface Row {
  readonly mark: Mark;
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
  readonly pieces?: readonly Piece[];
}

/** The lines of a hunk with numbers, and with the words marked that changed. */
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
  return withWords(rows);
}

const LONGEST_WORDS = 1000;
const LEAST_IN_COMMON = 0.3;

/** The first removed line beside the first added one of the same place, and so on. */
function withWords(rows: Row[]): Row[] {
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(rows, at, "-");
    const came = runOf(rows, at + removed, "+");
    for (let n = 0; n < Math.min(removed, came); n++) markWords(rows, at + n, at + removed + n);
    at += removed + came || 1;
  }
  return rows;
}

function runOf(rows: readonly Row[], at: number, mark: Mark): number {
  let length = 0;
  while (rows[at + length]?.mark === mark) length++;
  return length;
}

function markWords(rows: Row[], removed: number, came: number): void {
  const [before, after] = [rows[removed], rows[came]];
  if (!before || !after || Math.max(before.text.length, after.text.length) > LONGEST_WORDS) return;
  const found = diffWordsWithSpace(before.text, after.text);
  const same = found
    .filter((one) => !one.added && !one.removed)
    .reduce((sum, one) => sum + one.value.length, 0);
  if (same < LEAST_IN_COMMON * Math.max(before.text.length, after.text.length)) return;
  const pieces = (without: "added" | "removed"): Piece[] =>
    found
      .filter((one) => !one[without])
      .map((one) => ({ text: one.value, changed: Boolean(one.added || one.removed) }));
  rows[removed] = { ...before, pieces: pieces("added") };
  rows[came] = { ...after, pieces: pieces("removed") };
}

/** Rows side by side: what was on the left, what is on the right. */
export function pairs(rows: readonly Row[]): [Row | null, Row | null][] {
  const found: [Row | null, Row | null][] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    const removed = runOf(rows, at, "-");
    const came = runOf(rows, at + removed, "+");
    if (row && removed + came === 0) found.push([row, row]);
    for (let n = 0; n < Math.max(removed, came); n++) {
      found.push([
        n < removed ? (rows[at + n] ?? null) : null,
        n < came ? (rows[at + removed + n] ?? null) : null,
      ]);
    }
    at += removed + came || 1;
  }
  return found;
}
