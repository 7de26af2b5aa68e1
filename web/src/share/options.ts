/** What somebody chose in the window to share. */
import type { Leaving, ShareFormat, ShareRequest } from "../api/share";

export interface Options {
  readonly format: ShareFormat;
  readonly as: string;
  /** Null: those that are looked for unless something is said. */
  readonly kinds: readonly string[] | null;
  readonly custom: string;
  readonly keep: readonly string[];
  readonly leave: readonly Leaving[];
  readonly messages: readonly string[];
  /** `message path` */
  readonly parts: readonly string[];
}

export const START: Options = {
  format: "html",
  as: "canonical",
  kinds: null,
  custom: "",
  keep: [],
  leave: [],
  messages: [],
  parts: [],
};

export const FORMATS: Readonly<Record<ShareFormat, { readonly title: string; readonly what: string }>> = {
  html: {
    title: "One page",
    what: "One HTML file that anybody can open. It needs no server and asks for nothing.",
  },
  markdown: {
    title: "Markdown",
    what: "To read anywhere, or to put into a document. Tools are blocks of code.",
  },
  jsonl: { title: "JSON lines", what: "One message a line, in any format, for programs." },
  fixture: {
    title: "Test fixture",
    what: "A recording: what models were asked and what they answered, for tests without a network.",
  },
};

export const LEAVINGS: Readonly<Record<Leaving, string>> = {
  reasoning: "Reasoning",
  "tool-outputs": "What tools gave back",
  "tool-calls": "Tool calls",
  files: "Files and pictures",
  system: "System messages",
  "sub-agents": "Sub-agents",
};

/** A line each: a string, or a pattern between slashes. */
export function customOf(text: string): readonly { readonly text: string; readonly pattern: boolean }[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && line !== "/" && line !== "//")
    .map((line) => {
      const isPattern = line.length > 2 && line.startsWith("/") && line.endsWith("/");
      return { text: isPattern ? line.slice(1, -1) : line, pattern: isPattern };
    });
}

export function requestOf(options: Options): ShareRequest {
  const { format, as, kinds, custom, keep, leave, messages, parts } = options;
  return {
    format,
    ...(format === "jsonl" ? { as } : {}),
    redact: { ...(kinds ? { kinds } : {}), custom: customOf(custom), keep },
    leaveOut: {
      kinds: leave,
      messages,
      parts: parts.map((one) => {
        const cut = one.lastIndexOf(" ");
        return { message: one.slice(0, cut), path: one.slice(cut + 1) };
      }),
    },
  };
}
