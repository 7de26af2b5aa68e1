/** Sample calls of every kind and in every state. */
import table from "../../../tests/views/tool_calls.json";
import { rememberViews } from "../../src/context/toolViews";
import type { Message, ToolCallPart, ToolOutput, ToolView } from "../../src/partita.gen";

let last = 0;

type More = Partial<Omit<ToolCallPart, "type" | "name" | "input">>;

export const textOutput = (value: string): ToolOutput => ({ type: "text", value });
export const failed = (value: string): ToolOutput => ({ type: "error-text", value });
export const json = (value: unknown): ToolOutput => ({ type: "json", value });

/** A completed call by default. */
export function call(
  name: string,
  input: unknown,
  output?: ToolOutput | string,
  more: More = {},
): ToolCallPart {
  return {
    type: "tool-call",
    id: `call-${++last}`,
    name,
    state: "output-available",
    input,
    ...(output === undefined ? {} : { output: typeof output === "string" ? textOutput(output) : output }),
    ...more,
  } as ToolCallPart;
}

/** An assistant message with these parts. */
export const assistantMessage = (id: string, ...parts: unknown[]): Message =>
  ({
    role: "assistant",
    id,
    type: "text",
    createdAt: "2026-03-03T10:00:00Z",
    content: { format: 2, parts },
  }) as unknown as Message;

export const userMessage = (id: string, text: string): Message =>
  ({
    role: "user",
    id,
    type: "text",
    createdAt: "2026-03-03T09:59:00Z",
    content: { format: 2, parts: [{ type: "text", text }] },
  }) as unknown as Message;

interface Case {
  readonly call: ToolCallPart;
  readonly view: ToolView;
}

/** Calls of every agent with the views of the server: the table of the Python tests. */
export const CASES = table as unknown as Readonly<Record<string, Case>>;

for (const { call, view } of Object.values(CASES)) seen(call, view);

/** Stores the view of a call. */
export function seen(part: ToolCallPart, view: ToolView): ToolCallPart {
  rememberViews(assistantMessage("m", part), { "/content/parts/0": view });
  return part;
}

export function caseOf(name: string): Case {
  const found = CASES[name];
  if (!found) throw new Error(name);
  return found;
}

const named = (from: string, to: string): readonly ToolCallPart[] => {
  const names = Object.keys(CASES);
  return names.slice(names.indexOf(from), names.indexOf(to) + 1).map((name) => caseOf(name).call);
};

export const KINDS = named("Claude Code: a command with colours", "a tool of an MCP server");
export const STATES = named("state: a streaming input", "state: an error as JSON");
