/** A tool call for display: the server's view of it, and its output with large values loaded or referenced. */
import type { FilePart, ImagePart, ToolCallPart, ToolOutput, ToolText, ToolView } from "../partita.gen";
import { isObject, member } from "./json";

/** A reference to a value that is too large for a message. */
export interface LargeValue {
  readonly url: string;
  readonly kind: "text" | "json";
}

/** The content of an output: text or a JSON value, files, and references to large values. */
export interface OutputContent {
  readonly text: string;
  readonly value: unknown;
  readonly files: readonly (ImagePart | FilePart)[];
  /** Other items with their indexes in the output. */
  readonly others: readonly { readonly index: number; readonly item: unknown }[];
  readonly large: readonly LargeValue[];
}

/** The props of the components that display a call. */
export interface Call<V extends ToolView = ToolView> {
  readonly part: ToolCallPart;
  readonly view: V;
  readonly content: OutputContent;
}

/** LargeValue values that have been loaded completely, by URL. */
export type Loaded = ReadonlyMap<string, unknown>;

const NOTHING_LOADED: Loaded = new Map();
const REFERENCE = /^(blob:sha256:[0-9a-f]{64})#(text|json)$/;

/** Parses a reference to a large value; null if the value is not a reference. */
function parseReference(value: unknown): LargeValue | null {
  const found = typeof value === "string" ? REFERENCE.exec(value) : null;
  return found?.[1] ? { url: found[1], kind: found[2] as LargeValue["kind"] } : null;
}

/** The call with loaded values in place of references; the same object if nothing has been loaded. */
export function withLoaded(part: ToolCallPart, loaded: Loaded): ToolCallPart {
  const { output } = part;
  const resolve = (value: unknown): unknown => {
    const reference = parseReference(value);
    return reference && loaded.has(reference.url) ? loaded.get(reference.url) : value;
  };
  if (!loaded.size || !output || !("value" in output)) return part;
  const value =
    output.type === "content"
      ? output.value.map((item) => (item.type === "text" ? { ...item, text: resolve(item.text) } : item))
      : resolve(output.value);
  const type = output.type === "text" && typeof value !== "string" ? "json" : output.type;
  return { ...part, output: { ...output, type, value } as ToolOutput };
}

/** The content of an output. */
export function contentOf(output: ToolOutput | undefined, loaded: Loaded = NOTHING_LOADED): OutputContent {
  switch (output?.type) {
    case "text":
    case "error-text":
    case "json":
    case "error-json":
      return resolved([output.value], loaded);
    case "content": {
      const items = output.value;
      return {
        ...resolved(
          items.flatMap((item) => (item.type === "text" ? [item.text] : [])),
          loaded,
        ),
        files: items.filter((item) => item.type === "image" || item.type === "file") as (
          | ImagePart
          | FilePart
        )[],
        others: items.flatMap((item, index) =>
          ["text", "image", "file"].includes(item.type) ? [] : [{ index, item }],
        ),
      };
    }
    default:
      return resolved([], loaded);
  }
}

/** Joins texts; another value is kept as it is. */
function resolved(values: readonly unknown[], loaded: Loaded): OutputContent {
  const large: LargeValue[] = [];
  const texts: string[] = [];
  let value: unknown;
  for (const one of values) {
    const reference = parseReference(one);
    const real = reference ? loaded.get(reference.url) : one;
    if (reference && real === undefined) large.push(reference);
    else if (typeof real === "string") texts.push(real);
    else value = real;
  }
  return { text: texts.join("\n"), value, files: [], others: [], large };
}

/** The text of a view: literal, or located in the call. */
export function textOf(part: ToolCallPart, located: ToolText | undefined): string {
  if (!located) return "";
  if (located.text !== undefined) return located.text;
  const { path = [], skipLines = 0, lineCount, separator } = located;
  const text = path.length === 1 && path[0] === "output" ? contentOf(part.output).text : textAt(part, path);
  if (!skipLines && lineCount === undefined && !separator) return text;
  const end = lineCount === undefined ? undefined : skipLines + lineCount;
  const lines = text.split("\n").slice(skipLines, end);
  if (!separator) return lines.join("\n");
  return lines.map((line) => afterFirst(line, separator)).join("\n");
}

function textAt(part: ToolCallPart, path: readonly (string | number)[]): string {
  let value: unknown = part;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isObject(value) ? member(value, String(step)) : undefined;
  }
  return typeof value === "string" ? value : "";
}

function afterFirst(line: string, separator: string): string {
  const at = line.indexOf(separator);
  return at < 0 ? "" : line.slice(at + separator.length);
}

/** Whether the tool reported an error. */
export const hasFailed = (call: Call): boolean =>
  call.part.output?.type === "error-text" || call.part.output?.type === "error-json";
