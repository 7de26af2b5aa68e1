/** Messages and parts as Markdown, for copying. */
import { noticeOf, promptOf } from "../context/toolViews";
import type { Message, Part, TextPart, ToolCallPart, ToolOutput, ToolResultPart } from "../partita.gen";
import { plural } from "../ui/format";

const ROLES: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
};
/** Nested threads that are deeper are counted, not written. */
const MAX_DEPTH = 20;

/** A conversation: its title as heading, then its messages. */
export const conversationAsMarkdown = (title: string, messages: readonly Message[]): string =>
  `${[`# ${title}`, ...messages.map((one) => messageAsMarkdown(one))].join("\n\n")}\n`;

/** A message: the role as heading, then its parts. */
export function messageAsMarkdown(message: Message, depth = 0): string {
  const title = `${"#".repeat(Math.min(6, 2 + depth))} ${ROLES[message.role] ?? message.role}`;
  return [title, ...partsAsMarkdown(message.content.parts, depth)].join("\n\n");
}

function partsAsMarkdown(parts: readonly Part[], depth: number): string[] {
  return parts.map((part) => partAsMarkdown(part, depth)).filter((text) => text !== "");
}

/** A part; an empty string for parts without content. */
export function partAsMarkdown(part: Part, depth = 0): string {
  switch (part.type) {
    case "text":
      return textAsMarkdown(part);
    case "reasoning":
      return quoted(part.text);
    case "tool-call":
      return callAsMarkdown(part, depth);
    case "tool-result":
      return resultAsMarkdown(part);
    case "image":
      return `[${part.name ?? "Image"}](${shortAddress(part.url)})`;
    case "file":
    case "reasoning-file":
      return `[${part.filename ?? "File"}](${shortAddress(part.url)})`;
    case "source-url":
      return `- [${part.title ?? part.url}](${part.url})`;
    case "source-document":
      return `- ${part.title}`;
    case "steering-message":
      return quoted(partsAsMarkdown(part.parts, depth).join("\n\n"));
    case "step-start":
      return "";
    default:
      return fenced(asJson(part), "json");
  }
}

/** A text; what was added to a prompt is collapsed below it. */
function textAsMarkdown(part: TextPart): string {
  const prompt = promptOf(part);
  if (!prompt) return part.text;
  const added = (prompt.added ?? []).map(
    ({ label, text = "" }) =>
      `<details>\n<summary>${escaped(label)}</summary>\n\n${fenced(text)}\n\n</details>`,
  );
  return [prompt.text, ...added].filter(Boolean).join("\n\n");
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function callAsMarkdown(call: ToolCallPart, depth: number): string {
  const input = typeof call.input === "string" ? call.input : asJson(call.input ?? call.rawInput ?? {});
  const pieces = [
    `**${call.name}** (${call.state})`,
    fenced(input, typeof call.input === "string" ? "" : "json"),
  ];
  if (call.children?.length) {
    const children = call.children;
    pieces.push(
      depth < MAX_DEPTH
        ? children.map((child) => messageAsMarkdown(child, depth + 1)).join("\n\n")
        : `(${plural(children.length, "nested message")})`,
    );
  }
  if (call.output) pieces.push(outputAsMarkdown(call.output, depth));
  return pieces.join("\n\n");
}

const resultAsMarkdown = (part: ToolResultPart): string =>
  `**${part.name}**\n\n${outputAsMarkdown(part.output, 0)}`;

function outputAsMarkdown(output: ToolOutput, depth: number): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return fenced(String(output.value));
    case "content":
      return partsAsMarkdown(output.value, depth).join("\n\n");
    case "execution-denied":
      return `Denied. ${output.reason ?? ""}`.trim();
    case "interrupted":
      return `Interrupted: ${output.message ?? output.reason}`;
    default:
      return fenced(asJson(output.value), "json");
  }
}

/** A code block. Its fence is longer than any fence in the text. */
export function fenced(text: string, language = ""): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => (line ? `> ${line}` : ">"))
    .join("\n");

const shortAddress = (url: string): string => (url.startsWith("data:") ? `${url.slice(0, 32)}…` : url);

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return "(nested too deeply)";
  }
}

/** The first line of text of a message, for a heading. */
export function firstLine(message: Message): string {
  for (const part of message.content.parts) {
    const notice = noticeOf(part);
    const text = notice
      ? notice.label || notice.text
      : part.type === "data"
        ? part.name
        : (promptOf(part)?.text ?? part.text);
    if (typeof text !== "string") continue;
    const line = text
      .slice(0, 2000)
      .split("\n")
      .find((one) => one.trim());
    if (line) return line.trim().slice(0, 160);
  }
  return "";
}
