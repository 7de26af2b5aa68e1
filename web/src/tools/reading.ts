/** Files that were read: which lines, and their text without what the agent wrote around it. */
import { type Call, detail, word } from "./call";
import { isObject, texts, wholeNumber } from "./json";
import { pathOf } from "./patches";

export interface FileText {
  readonly text: string;
  readonly first: number;
  /** What the agent added below. */
  readonly note: string;
}

// `     1→text` of Claude Code, `00001| text` of OpenCode, `1\ttext` of `cat -n`.
const NUMBERED = /^ *(\d{1,9})(?:→|\t|\| ?)(.*)$/;
const WRAPPED = /^<file>\n([\s\S]*?)\n?(?:\n\([^\n]*\))?\n<\/file>/;
const REMINDER = /\n*(<system-reminder>[\s\S]*)$/;

/** The text of a file, with the number of its first line. */
export function fileText(call: Call): FileText {
  const kept = detail(call, "file");
  if (isObject(kept) && typeof kept.content === "string")
    return { text: kept.content, first: wholeNumber(kept.startLine) ?? 1, note: "" };
  return unnumbered(call.given.text, wholeNumber(call.input.offset) ?? 1);
}

/** A text without the numbers in front of its lines. */
export function unnumbered(given: string, first = 1): FileText {
  const note = REMINDER.exec(given)?.[1] ?? "";
  const whole = note ? given.slice(0, given.length - note.length).replace(/\n+$/, "") : given;
  const text = WRAPPED.exec(whole)?.[1] ?? whole;
  const lines = text.replace(/\n$/, "").split("\n");
  const found = lines.map((line) => NUMBERED.exec(line));
  if (!found.length || found.some((one) => one === null)) return { text, first: Math.max(1, first), note };
  return { text: found.map((one) => one?.[2] ?? "").join("\n"), first: Number(found[0]?.[1]), note };
}

/** `lines 10–59 of 200`, as far as it is known. */
export function rangeOf(call: Call): string {
  const kept = detail(call, "file");
  const told = isObject(kept) ? kept : {};
  const view = Array.isArray(call.input.view_range) ? call.input.view_range : [];
  const start = wholeNumber(told.startLine) ?? wholeNumber(call.input.offset) ?? wholeNumber(view[0]);
  const count = wholeNumber(told.numLines) ?? wholeNumber(call.input.limit);
  const end = wholeNumber(view[1]);
  const total = wholeNumber(told.totalLines);
  if (start === undefined && count === undefined) return "";
  const from = start ?? 1;
  if (total !== undefined && from === 1 && count === total) return total === 1 ? "1 line" : `${total} lines`;
  const last = count ? from + count - 1 : end && end > 0 ? end : undefined;
  return `lines ${from}${last ? `–${last}` : " on"}${total === undefined ? "" : ` of ${total}`}`;
}

/** The file, or the files, that a call reads. */
export function filesOf(call: Call): string {
  const many = [...texts(call.input.paths), ...texts(call.input.file_paths)];
  return pathOf(call) || word(call, "notebook_path", "url") || many.join(", ");
}

/** What its name says a file is written in. */
export function languageOf(path: string): string | undefined {
  const name = /[^/\\]*$/.exec(path)?.[0] ?? "";
  if (/^(?:Makefile|Dockerfile)$/.test(name)) return name.toLowerCase();
  return /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase();
}
