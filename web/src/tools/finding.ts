/** What a search, a glob or a listing found, grouped by file. */
import { type Call, detail, word } from "./call";
import { split } from "./diffs";
import { objects, texts, wholeNumber } from "./json";
import { pathOf } from "./patches";

export interface Hit {
  readonly line?: number;
  readonly text: string;
  /** A line around a hit. */
  readonly isContext: boolean;
}

export interface Group {
  readonly path: string;
  readonly hits: readonly Hit[];
  readonly count?: number;
}

export interface Found {
  readonly groups: readonly Group[];
  /** What is neither a file nor a hit: heads, notes. */
  readonly notes: readonly string[];
  readonly total?: number;
}

const COUNTS = ["numMatches", "totalMatches", "numFiles", "matches", "count"] as const;
const COUNTED = /^(?:Found|Listed) (\d{1,9}) /;
const NOTHING = /^(?:no files found|no matches found|no match|0 matches|found 0 )/i;
// In the words of ripgrep, of Gemini CLI, of OpenCode.
const HIT = /^((?:[A-Za-z]:)?[^:\s][^:]{0,500}):(\d{1,9}):(.*)$/;
const CONTEXT = /^((?:[A-Za-z]:)?[^:\s][^:]{0,500}?)-(\d{1,9})-(.*)$/;
const HIT_ALONE = /^(?:L|\s+Line )?(\d{1,9}):\s?(.*)$/;
const CONTEXT_ALONE = /^(\d{1,9})-(.*)$/;
const FILE_HEAD = /^(?:File: (.+)|(\S[^:]*\.[A-Za-z0-9]{1,8}):)$/;
const COUNT_LINE = /^(\S[^:]{0,500}):(\d{1,9})$/;
const PATH = /^(?:\.{0,2}\/|[A-Za-z]:\\)?[^\s:][^:]*$/;

export const patternOf = (call: Call): string =>
  word(call, "pattern", "query", "regex", "search_term", "glob");
export const placeOf = (call: Call): string => word(call, "path", "dir_path", "include", "directory");

export function foundBy(call: Call): Found {
  const told = COUNTS.map((name) => wholeNumber(detail(call, name))).find((one) => one !== undefined);
  const names = texts(detail(call, "filenames"));
  const content = detail(call, "content");
  if (names.length && !content)
    return { groups: names.map((path) => ({ path, hits: [] })), notes: [], total: told ?? names.length };
  const listed = objects(detail(call, "files", "entries", "matches"));
  if (!call.given.text && listed.length) return { groups: listed.map(groupOf), notes: [], total: told };
  const found = parsedLines(split(call.given.text), pathOf(call));
  return { ...found, total: told ?? found.total };
}

function groupOf(item: Readonly<Record<string, unknown>>): Group {
  const path = String(item.path ?? item.name ?? item.file ?? "…");
  const text = item.text ?? item.line_text ?? item.content;
  const line = wholeNumber(item.line ?? item.line_number);
  return { path, hits: typeof text === "string" ? [{ line, text, isContext: false }] : [] };
}

interface Collected {
  path: string;
  hits: Hit[];
  count?: number;
}

/** Lines as the tools print them. `only` is the file that lines without a path are of. */
export function parsedLines(lines: readonly string[], only = ""): Found {
  const groups: Collected[] = [];
  const notes: string[] = [];
  let total: number | undefined;
  const group = (path: string): Collected => {
    const last = groups.at(-1);
    if (last?.path === path) return last;
    const made = { path, hits: [] };
    groups.push(made);
    return made;
  };
  const isByFile = lines.some((line) => HIT.test(line));
  for (const raw of lines) {
    const line = raw.replace(/\r$/, "");
    const counted = COUNTED.exec(line);
    if (!line.trim() || line === "--" || line === "---") continue;
    if (NOTHING.test(line)) return { groups: [], notes: [], total: 0 };
    if (counted) {
      total ??= Number(counted[1]);
      continue;
    }
    const hit = HIT.exec(line);
    const around = isByFile && !hit ? CONTEXT.exec(line) : null;
    const alone = hit || around ? null : HIT_ALONE.exec(line);
    const aloneAround = hit || around || alone || isByFile ? null : CONTEXT_ALONE.exec(line);
    const head = FILE_HEAD.exec(line);
    const count = COUNT_LINE.exec(line);
    if (head && !count) group(head[1] ?? head[2] ?? "");
    else if (hit) group(hit[1] ?? "").hits.push(hitOf(hit[2], hit[3]));
    else if (around) group(around[1] ?? "").hits.push(hitOf(around[2], around[3], true));
    else if (alone) group(groups.at(-1)?.path ?? only).hits.push(hitOf(alone[1], alone[2]));
    else if (aloneAround)
      group(groups.at(-1)?.path ?? only).hits.push(hitOf(aloneAround[1], aloneAround[2], true));
    else if (count) group(count[1] ?? "").count = Number(count[2]);
    else if (PATH.test(line)) groups.push({ path: line, hits: [] });
    else notes.push(line);
  }
  return { groups, notes, total: total ?? totalOf(groups) };
}

const hitOf = (line: string | undefined, text: string | undefined, isContext = false): Hit => ({
  line: Number(line),
  text: text ?? "",
  isContext,
});

function totalOf(groups: readonly Collected[]): number {
  const hits = groups.reduce(
    (sum, one) => sum + (one.count ?? one.hits.filter((hit) => !hit.isContext).length),
    0,
  );
  return hits || groups.length;
}

/**
 * The words a pattern surely looks for. Patterns are not run: one from a stranger against a text from a stranger
 * can take for ever.
 */
export function literals(pattern: string): string[] {
  return pattern
    .split("|")
    .map((one) => literal(one.replace(/^[\^(]+|[$)]+$/g, "").replaceAll("\\b", "")))
    .filter((one) => one.length > 1);
}

/** The words that a pattern is, when it is nothing but words. */
function literal(pattern: string): string {
  if (/\\[^.()[\]{}*+?^$/"'-]/.test(pattern)) return "";
  const isPlain = !/[\\[\](){}*+?^$.]/.test(pattern.replace(/\\./g, ""));
  return isPlain ? pattern.replace(/\\(.)/g, "$1").toLowerCase() : "";
}

/** A text in pieces, those that were looked for marked. */
export function markedPieces(text: string, words: readonly string[]): { text: string; hit: boolean }[] {
  const low = text.toLowerCase();
  if (!words.length || low.length !== text.length) return [{ text, hit: false }];
  const pieces: { text: string; hit: boolean }[] = [];
  let from = 0;
  while (from < text.length) {
    let at = -1;
    let length = 0;
    for (const one of words) {
      const place = low.indexOf(one, from);
      if (place >= 0 && (at < 0 || place < at)) [at, length] = [place, one.length];
    }
    if (at < 0) break;
    if (at > from) pieces.push({ text: text.slice(from, at), hit: false });
    pieces.push({ text: text.slice(at, at + length), hit: true });
    from = at + length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}
