/** The options of the share dialog. */
import type { ExcludedKind, ShareFormat, ShareRequest } from "../api/share";

export interface Options {
  readonly format: ShareFormat;
  readonly as: string;
  /** The kinds of secrets to replace; null for the default kinds. */
  readonly kinds: readonly string[] | null;
  readonly custom: string;
  readonly keep: readonly string[];
  readonly exclude: readonly ExcludedKind[];
  readonly messages: readonly string[];
  /** Each is `message path`. */
  readonly parts: readonly string[];
}

export const DEFAULT_OPTIONS: Options = {
  format: "html",
  as: "canonical",
  kinds: null,
  custom: "",
  keep: [],
  exclude: [],
  messages: [],
  parts: [],
};

export const FORMATS: Readonly<
  Record<ShareFormat, { readonly title: string; readonly description: string }>
> = {
  html: {
    title: "HTML",
    description: "One file that opens in any browser. It needs no server and no network.",
  },
  markdown: {
    title: "Markdown",
    description: "For reading or for a document. Edits are diffs, long outputs are folded.",
  },
  json: { title: "JSON", description: "All messages in one document, in any format, for programs." },
  jsonl: { title: "JSON lines", description: "One message per line, in any format, for programs." },
  fixture: {
    title: "Test fixture",
    description: "A recording of the requests to models and their responses, for tests without a network.",
  },
};

export const EXCLUDED_KINDS: Readonly<Record<ExcludedKind, string>> = {
  reasoning: "Reasoning",
  "tool-outputs": "Tool outputs",
  "tool-calls": "Tool calls",
  files: "Files and images",
  system: "System messages",
  "sub-agents": "Sub-agents",
};

/** Parses one string or /pattern/ per line. */
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
  const { format, as, kinds, custom, keep, exclude, messages, parts } = options;
  return {
    format,
    ...(format === "json" || format === "jsonl" ? { as } : {}),
    redact: { ...(kinds ? { kinds } : {}), custom: customOf(custom), keep },
    leaveOut: {
      kinds: exclude,
      messages,
      parts: parts.map((one) => {
        const cut = one.lastIndexOf(" ");
        return { message: one.slice(0, cut), path: one.slice(cut + 1) };
      }),
    },
  };
}
