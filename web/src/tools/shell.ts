/** Commands of a shell: what was run, what it printed, how it ended. */
import { type Call, detail, word } from "./call";
import { firstText, isObject, type JsonObject, member, parsed, texts, wholeNumber } from "./json";

const SHELLS = new Set(["bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"]);
const SCRIPT_FLAGS = new Set(["-c", "-lc", "-ic"]);

// What agents put around the output of a command, by age and kind, before they show it to the model.
const HEADS = [
  /^Exit code:? (?<code>-?\d+)(?:\nWall time: [^\n]*)?(?:\nTotal output lines: \d+)?(?:\n|$)(?:Output:\n)?/,
  /^(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code (?<code>-?\d+)(?:\n|$)(?:Original token count: [^\n]*\n)?(?:Output:\n)?/,
  /^(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?<running>Process running with session [^\n]*)(?:\n|$)(?:Original token count: [^\n]*\n)?(?:Output:\n)?/,
];
const LABELLED = /^Exit Code: (?<code>-?\d+)\s*$/m;
const CODES = ["exitCode", "exit_code", "exit", "code", "return_code", "returncode"] as const;

/** What a command printed, and how it ended if anybody said so. */
export interface Ran {
  readonly output: string;
  readonly errors: string;
  readonly code?: number;
  readonly note: string;
}

/** The command, without the shell around it. */
export function commandOf(call: Call): string {
  const action = call.input.action;
  const given =
    call.input.command ??
    call.input.cmd ??
    call.input.script ??
    call.input.code ??
    (isObject(action) ? action.command : undefined);
  if (Array.isArray(given)) {
    const [shell = "", flag = "", script, ...more] = texts(given);
    const isScript = SHELLS.has(shell) && SCRIPT_FLAGS.has(flag) && more.length === 0;
    return isScript && script !== undefined ? script : texts(given).join(" ");
  }
  if (typeof given === "string") return given;
  return call.words || word(call, "chars", "input", "bash_id", "shell_id", "session_id");
}

export const folderOf = (call: Call): string => word(call, "workdir", "cwd", "dir_path", "directory");

/** What the command printed, freed from what the agent put around it. */
export function ranOf(call: Call): Ran {
  const { text } = call.given;
  const value = isObject(call.given.value) ? call.given.value : legacyObject(text);
  if (value) return ofObject(value);
  const apart = apartOf(call);
  const ran = ofText(text);
  const note = detail(call, "returnCodeInterpretation");
  return {
    ...ran,
    ...(apart ?? {}),
    code: ran.code ?? toldCode(call.details),
    note: ran.note || (typeof note === "string" ? note : ""),
  };
}

/** What was printed and what was complained, where the agent kept them apart. */
function apartOf(call: Call): Pick<Ran, "output" | "errors"> | null {
  for (const kept of call.details) {
    if (typeof kept.stdout !== "string" || typeof kept.stderr !== "string") continue;
    if (kept.stderr.trim()) return { output: kept.stdout, errors: kept.stderr };
  }
  return null;
}

function toldCode(places: readonly JsonObject[]): number | undefined {
  for (const place of places) {
    for (const name of CODES) {
      const code = wholeNumber(member(place, name));
      if (code !== undefined) return code;
    }
  }
  return undefined;
}

function ofText(text: string): Ran {
  for (const head of HEADS) {
    const found = head.exec(text);
    if (!found) continue;
    const { code, running } = found.groups ?? {};
    return {
      output: text.slice(found[0].length),
      errors: "",
      code: code === undefined ? undefined : Number(code),
      note: running ?? "",
    };
  }
  const code = LABELLED.exec(text)?.groups?.code;
  return { output: text, errors: "", code: code === undefined ? undefined : Number(code), note: "" };
}

function ofObject(value: JsonObject): Ran {
  const about = member(value, "metadata");
  return {
    output: firstText(value, "output", "stdout", "content"),
    errors: firstText(value, "stderr", "error"),
    code: toldCode(isObject(about) ? [value, about] : [value]),
    note: "",
  };
}

/** The object that older agents wrote as the text of an output. */
function legacyObject(text: string): JsonObject | null {
  const value = text.startsWith('{"') ? parsed(text) : null;
  return isObject(value) && "output" in value && isObject(value.metadata) ? value : null;
}
