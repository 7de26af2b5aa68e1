/** A tool call made ready to be drawn: its input, and its output with large values loaded or told of. */
import type { FilePart, ImagePart, ToolCallPart, ToolOutput } from "../partita.gen";
import { PartialJson } from "../stream/partial_json";
import { firstText, isObject, type JsonObject, member, parsed } from "./json";

/** A value too large to stand in a message: where it is, and what it was. */
export interface Large {
  readonly url: string;
  readonly kind: "text" | "json";
}

/** What a tool gave back: words, or a value, and beside them files. */
export interface Given {
  readonly text: string;
  readonly value: unknown;
  readonly files: readonly (ImagePart | FilePart)[];
  readonly others: readonly unknown[];
  readonly large: readonly Large[];
}

/** A call, as those who draw it want to see it. */
export interface Call {
  readonly part: ToolCallPart;
  /** Empty when the input is no object. */
  readonly input: JsonObject;
  /** The input when it is text. */
  readonly words: string;
  readonly given: Given;
  /** What the agent's program kept about the call, beside what the model saw; the richest first. */
  readonly details: readonly JsonObject[];
}

/** Large values that have been loaded whole, by their address. */
export type Loaded = ReadonlyMap<string, unknown>;

const NOTHING_LOADED: Loaded = new Map();
const REFERENCE = /^(blob:sha256:[0-9a-f]{64})#(text|json)$/;

export function ready(part: ToolCallPart, loaded: Loaded = NOTHING_LOADED): Call {
  const input = inputOf(part);
  const given = givenOf(part.output, loaded);
  return {
    part,
    input: isObject(input) ? input : {},
    words: typeof input === "string" ? input : "",
    given,
    details: [...detailsOf(part), ...(isObject(given.value) ? [given.value] : [])],
  };
}

function inputOf(part: ToolCallPart): unknown {
  const given = part.input ?? part.rawInput;
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  const value = part.state === "input-streaming" ? new PartialJson(given).value() : parsed(given);
  return isObject(value) ? value : given;
}

/** The reference that a text is, if it is one. */
export function largeOf(value: unknown): Large | null {
  const found = typeof value === "string" ? REFERENCE.exec(value) : null;
  return found?.[1] ? { url: found[1], kind: found[2] as Large["kind"] } : null;
}

/** What an output holds. */
export function givenOf(output: ToolOutput | undefined, loaded: Loaded): Given {
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
        others: items.filter((item) => !["text", "image", "file"].includes(item.type)),
      };
    }
    default:
      return resolved([], loaded);
  }
}

/** Values one after another: texts are joined, a single other value stays one. */
function resolved(values: readonly unknown[], loaded: Loaded): Given {
  const large: Large[] = [];
  const words: string[] = [];
  let value: unknown;
  for (const one of values) {
    const reference = largeOf(one);
    const real = reference ? loaded.get(reference.url) : one;
    if (reference && real === undefined) large.push(reference);
    else if (typeof real === "string") words.push(real);
    else value = real;
  }
  return { text: words.join("\n"), value, files: [], others: [], large };
}

function detailsOf(part: ToolCallPart): JsonObject[] {
  return Object.values(part.toolMetadata ?? {})
    .filter(isObject)
    .flatMap((space) => [
      ...["toolUseResult", "resultDisplay", "metadata"].map((name) => member(space, name)).filter(isObject),
      space,
    ]);
}

/** The first of these members of the input that is a text. */
export const word = (call: Call, ...names: readonly string[]): string => firstText(call.input, ...names);

/** The first of these that the details tell. */
export function detail(call: Call, ...names: readonly string[]): unknown {
  for (const found of call.details) {
    for (const name of names) if (Object.hasOwn(found, name)) return found[name];
  }
  return undefined;
}

/** Whether the tool said that it failed. */
export const hasFailed = (call: Call): boolean =>
  call.part.output?.type === "error-text" || call.part.output?.type === "error-json";

/** Whether something came of it. */
export const hasSucceeded = (call: Call): boolean =>
  ["text", "json", "content"].includes(call.part.output?.type ?? "");
