/** Which files a call changed, and how: in the words of each agent, as changes. */
import { type Call, word } from "./call";
import { added, type Change, type ChangeKind, compared, type Hunk, type Line, linesOf } from "./diffs";
import { firstText, isObject, type JsonObject, member, objects, texts, wholeNumber } from "./json";

export const BEGIN = "*** Begin Patch";
const FILE = /^\*\*\* (Add|Update|Delete) File: (.*)$/;
const MOVE = "*** Move to: ";
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const HAS_HUNK = new RegExp(HUNK, "m");
const KINDS: Readonly<Record<string, ChangeKind>> = { Add: "add", Update: "update", Delete: "delete" };

const PATHS = [
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "absolute_path",
  "filename",
  "target_file",
  "file",
] as const;
const OLD = ["old_string", "oldString", "old_str", "oldText", "old_text", "old_source"] as const;
const NEW = ["new_string", "newString", "new_str", "newText", "new_text", "new_source"] as const;
const WHOLE = ["content", "file_text", "contents", "text"] as const;

/** The path that a call names. */
export const pathOf = (call: Call): string => word(call, ...PATHS);

/** What a call changed, from the best source there is; nothing when it changed no file that is told. */
export function changesOf(call: Call): readonly Change[] {
  const before = known.get(call);
  if (before) return before;
  const found = foundChanges(call);
  known.set(call, found);
  return found;
}

/** The head and the body of a card both want to know. */
const known = new WeakMap<Call, readonly Change[]>();

function foundChanges(call: Call): Change[] {
  for (const lookFor of [structured, shownDiff, patchText, replacements]) {
    const found = lookFor(call);
    if (found.length) return found;
  }
  return [];
}

/** Claude Code keeps the hunks, with the numbers of their lines. */
function structured(call: Call): Change[] {
  for (const kept of call.details) {
    const hunks = objects(member(kept, "structuredPatch")).map(hunkOf);
    const path = firstText(kept, "filePath") || pathOf(call);
    if (hunks.length) return [{ path, hunks, kind: "update" }];
    if (kept.type === "create" && typeof kept.content === "string")
      return [{ path, hunks: added(kept.content), kind: "add" }];
  }
  return [];
}

const hunkOf = (hunk: JsonObject): Hunk => ({
  lines: linesOf(texts(hunk.lines)),
  old: wholeNumber(hunk.oldStart),
  new: wholeNumber(hunk.newStart),
});

/** Gemini CLI keeps what it showed to the user: a unified diff. Others give one, too. */
function shownDiff(call: Call): Change[] {
  for (const kept of [...call.details, call.input]) {
    const text = firstText(kept, "fileDiff", "diff", "unified_diff", "patch");
    if (!HAS_HUNK.test(text)) continue;
    const path = firstText(kept, "filePath", "fileName") || pathOf(call);
    return unified(text, path);
  }
  return [];
}

/** The changes of a unified diff, which may be of several files. */
export function unified(text: string, path = ""): Change[] {
  const found: { path: string; hunks: { old: number; new: number; lines: string[] }[] }[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const head = line.startsWith("--- ") ? /^\+\+\+ (?:[ab]\/)?([^\t]*)/.exec(lines[at + 1] ?? "") : null;
    const hunk = HUNK.exec(line);
    if (head) {
      found.push({ path: path || (head[1] ?? ""), hunks: [] });
      at++;
    } else if (hunk) {
      if (!found.length) found.push({ path, hunks: [] });
      found.at(-1)?.hunks.push({ old: Number(hunk[1]), new: Number(hunk[2]), lines: [] });
    } else if (/^[ +-]/.test(line)) found.at(-1)?.hunks.at(-1)?.lines.push(line);
  }
  return found
    .filter((file) => file.hunks.length)
    .map((file) => ({
      path: file.path,
      kind: "update",
      hunks: file.hunks.map((hunk) => ({ ...hunk, lines: linesOf(hunk.lines) })),
    }));
}

/** Codex writes patches of its own kind, as the input itself or inside a command. */
function patchText(call: Call): Change[] {
  const places = [
    call.words,
    word(call, "input", "patch", "patchText", "command", "cmd"),
    ...texts(call.input.command),
  ];
  for (const text of places) {
    const at = text.indexOf(BEGIN);
    if (at >= 0) return patch(text.slice(at));
  }
  return [];
}

/** The changes of an `apply_patch` text, which may be cut. */
export function patch(text: string): Change[] {
  const found: { change: Change; hunks: Line[][] }[] = [];
  for (const line of text.split("\n")) {
    const named = FILE.exec(line);
    const current = found.at(-1);
    if (line.startsWith("*** End Patch")) break;
    if (named)
      found.push({
        change: { path: named[2]?.trim() ?? "", kind: KINDS[named[1] ?? ""] ?? "update", hunks: [] },
        hunks: [],
      });
    else if (!current) continue;
    else if (line.startsWith(MOVE))
      current.change = { ...current.change, movedTo: line.slice(MOVE.length).trim() };
    else if (line.startsWith("@@")) current.hunks.push([]);
    else if (/^[ +-]/.test(line)) {
      if (!current.hunks.length) current.hunks.push([]);
      current.hunks.at(-1)?.push(...linesOf([line]));
    }
  }
  return found.map(({ change, hunks }) => ({
    ...change,
    hunks: hunks
      .filter((lines) => lines.length)
      .map((lines) => ({ lines, new: change.kind === "add" ? 1 : undefined })),
  }));
}

/** What the input says is to stand in the place of what. */
function replacements(call: Call): Change[] {
  const edits = objects(call.input.edits);
  const path = pathOf(call) || firstText(edits[0], ...PATHS);
  const hunks = (edits.length ? edits : [call.input])
    .filter((edit) => [...OLD, ...NEW].some((name) => typeof member(edit, name) === "string"))
    .flatMap((edit) => compared(text(edit, OLD), text(edit, NEW)));
  if (hunks.length) return [{ path, hunks, kind: "update" }];
  const whole = text(call.input, WHOLE);
  return whole && path ? [{ path, hunks: added(whole), kind: "update" }] : [];
}

function text(holder: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const value = member(holder, name);
    if (typeof value === "string") return value;
  }
  return "";
}

/** Whether a call of a tool nobody knows looks like a change of a file. */
export function isChange(call: Call): boolean {
  const has = (names: readonly string[]) => names.some((name) => Object.hasOwn(call.input, name));
  return (
    call.details.some((kept) => Array.isArray(kept.structuredPatch)) ||
    (has(OLD) && has(NEW) && pathOf(call) !== "") ||
    call.words.includes(BEGIN)
  );
}

/** Whether the whole file was written. */
export const isWrite = (call: Call): boolean =>
  /^(?:write|create)/i.test(call.part.name) || (isObject(call.input) && call.input.command === "create");
