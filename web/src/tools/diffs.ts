/** Changes of files, as values. */
import { diffWordsWithSpace, structuredPatch } from "diff";

export type Mark = " " | "+" | "-";
export type ChangeKind = "add" | "update" | "delete";

export interface Line {
  readonly mark: Mark;
  readonly text: string;
}

/** Lines one after another, and where they stand in the old and the new file, if that is known. */
export interface Hunk {
  readonly lines: readonly Line[];
  readonly old?: number;
  readonly new?: number;
}

/** What happened to a file. */
export interface Change {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly kind: ChangeKind;
  readonly movedTo?: string;
}

const CONTEXT = 3;
// Of texts that are longer, or differ in more, one replaces the other. Lines, not time: the same text looks the same.
const LONGEST_COMPARED = 20_000;
const MOST_EDITS = 600;

export const split = (text: string): string[] => (text ? text.replace(/\n$/, "").split("\n") : []);

const marked = (mark: Mark, lines: readonly string[]): Line[] => lines.map((text) => ({ mark, text }));

/** The hunks between two texts. Where they stand in the file is not known. */
export function compared(before: string, after: string): Hunk[] {
  if (!before || !after) return replaced(before, after);
  if (split(before).length + split(after).length > LONGEST_COMPARED) return replaced(before, after);
  const ended = (text: string) => (text.endsWith("\n") ? text : `${text}\n`);
  const found = structuredPatch("", "", ended(before), ended(after), "", "", {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  });
  if (!found) return replaced(before, after);
  return found.hunks.map(({ lines }) => ({ lines: linesOf(lines) }));
}

function replaced(before: string, after: string): Hunk[] {
  const lines = [...marked("-", split(before)), ...marked("+", split(after))];
  return lines.length ? [{ lines }] : [];
}

/** Lines that carry their mark in front. */
export function linesOf(lines: readonly string[]): Line[] {
  return lines
    .filter((line) => !line.startsWith("\\")) // "\ No newline at end of file"
    .map((line) => ({ mark: /^[+-]/.test(line) ? (line[0] as Mark) : " ", text: line.slice(1) }));
}

/** The hunk of a new file. */
export function added(text: string): Hunk[] {
  const lines = marked("+", split(text));
  return lines.length ? [{ lines, new: 1 }] : [];
}

/** How many lines came, how many went. */
export function counts(changes: readonly Change[]): { plus: number; minus: number } {
  let plus = 0;
  let minus = 0;
  for (const change of changes) {
    for (const hunk of change.hunks) {
      for (const { mark } of hunk.lines) {
        if (mark === "+") plus++;
        else if (mark === "-") minus++;
      }
    }
  }
  return { plus, minus };
}

/** A piece of a changed line, and whether it is what changed. */
export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

/** A line with its numbers, and its pieces where it took the place of another. */
export interface Row extends Line {
  readonly old?: number;
  readonly new?: number;
  readonly pieces?: readonly Piece[];
}

/** The lines of a hunk with numbers, and with the words marked that changed. */
export function rowsOf(hunk: Hunk): Row[] {
  const rows: Row[] = [];
  let { old, new: fresh } = hunk;
  for (const line of hunk.lines) {
    rows.push({
      ...line,
      old: line.mark === "+" ? undefined : old,
      new: line.mark === "-" ? undefined : fresh,
    });
    if (old !== undefined && line.mark !== "+") old++;
    if (fresh !== undefined && line.mark !== "-") fresh++;
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
