/** A tool call ready to be drawn: the server's view of it, and its output with large values loaded or located. */
import type { FilePart, ImagePart, ToolCallPart, ToolOutput, ToolText, ToolView } from "../partita.gen";
import { isObject, member } from "./json";

/** A value too large to stand in a message: where it is, and what it was. */
export interface Large {
  readonly url: string;
  readonly kind: "text" | "json";
}

/** What a tool returned: text, or a value, and beside them files. */
export interface Given {
  readonly text: string;
  readonly value: unknown;
  readonly files: readonly (ImagePart | FilePart)[];
  /** Other items, and their places in the output. */
  readonly others: readonly { readonly at: number; readonly item: unknown }[];
  readonly large: readonly Large[];
}

/** A call, as the components that draw it receive it. */
export interface Call<V extends ToolView = ToolView> {
  readonly part: ToolCallPart;
  readonly view: V;
  readonly given: Given;
}

/** Large values that have been loaded whole, by their address. */
export type Loaded = ReadonlyMap<string, unknown>;

const NOTHING_LOADED: Loaded = new Map();
const REFERENCE = /^(blob:sha256:[0-9a-f]{64})#(text|json)$/;

/** The reference that a text is, if it is one. */
export function largeOf(value: unknown): Large | null {
  const found = typeof value === "string" ? REFERENCE.exec(value) : null;
  return found?.[1] ? { url: found[1], kind: found[2] as Large["kind"] } : null;
}

/** The call with the large values of its output that have been loaded; the same one when there are none. */
export function withLoaded(part: ToolCallPart, loaded: Loaded): ToolCallPart {
  const { output } = part;
  const real = (value: unknown): unknown => {
    const reference = largeOf(value);
    return reference && loaded.has(reference.url) ? loaded.get(reference.url) : value;
  };
  if (!loaded.size || !output || !("value" in output)) return part;
  const value =
    output.type === "content"
      ? output.value.map((item) => (item.type === "text" ? { ...item, text: real(item.text) } : item))
      : real(output.value);
  const type = output.type === "text" && typeof value !== "string" ? "json" : output.type;
  return { ...part, output: { ...output, type, value } as ToolOutput };
}

/** What an output holds. */
export function givenOf(output: ToolOutput | undefined, loaded: Loaded = NOTHING_LOADED): Given {
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
        others: items.flatMap((item, at) =>
          ["text", "image", "file"].includes(item.type) ? [] : [{ at, item }],
        ),
      };
    }
    default:
      return resolved([], loaded);
  }
}

/** Values one after another: texts are joined, a single other value stays one. */
function resolved(values: readonly unknown[], loaded: Loaded): Given {
  const large: Large[] = [];
  const texts: string[] = [];
  let value: unknown;
  for (const one of values) {
    const reference = largeOf(one);
    const real = reference ? loaded.get(reference.url) : one;
    if (reference && real === undefined) large.push(reference);
    else if (typeof real === "string") texts.push(real);
    else value = real;
  }
  return { text: texts.join("\n"), value, files: [], others: [], large };
}

/** The text that a view means: its own, or the one that it locates in the call. */
export function textOf(part: ToolCallPart, located: ToolText | undefined): string {
  if (!located) return "";
  if (located.text !== undefined) return located.text;
  const { path = [], skipLines = 0, lineCount, separator } = located;
  const text = path.length === 1 && path[0] === "output" ? givenOf(part.output).text : textAt(part, path);
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
