/** Sub-agents and networks: the messages nested under a call. */
import type { AssistantMessage, Message, NetworkExecution, ToolCallPart } from "../partita.gen";
import { compact, plural } from "../ui/format";
import { isObject } from "./json";

/** The network execution in the metadata of a call. */
export function networkOf(part: ToolCallPart): NetworkExecution | null {
  const found = part.toolMetadata?.networkExecution;
  return isObject(found) ? (found as unknown as NetworkExecution) : null;
}

/** The messages nested under a call, from either member. */
export function childrenOf(part: ToolCallPart): readonly Message[] {
  if (part.children?.length) return part.children;
  return networkOf(part)?.finalResult?.messages ?? [];
}

/** Whether the last message of the sub-agent has the same text as its result. */
export function isLastMessage(messages: readonly Message[], text: string): boolean {
  const last = messages.at(-1);
  return last !== undefined && text !== "" && textIn(last).trim() === text.trim();
}

const textIn = (message: Message): string =>
  message.content.parts.map((part) => (part.type === "text" ? (part as { text: string }).text : "")).join("");

/** What the messages of a sub-agent add up to, including those below them. */
interface Totals {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** From the first to the last message; null if unknown. */
  readonly seconds: number | null;
}

export function totalsOf(messages: readonly Message[]): Totals {
  let [calls, inputTokens, outputTokens] = [0, 0, 0];
  const times: number[] = [];
  const waiting = [...messages];
  for (let message = waiting.pop(); message; message = waiting.pop()) {
    const { usage } = (message as AssistantMessage).content;
    inputTokens += usage?.inputTokens ?? 0;
    outputTokens += usage?.outputTokens ?? 0;
    if (message.createdAt) times.push(Date.parse(message.createdAt));
    for (const part of message.content.parts) {
      if (part.type !== "tool-call") continue;
      calls += 1;
      waiting.push(...childrenOf(part as ToolCallPart));
    }
  }
  const seconds = times.length > 1 ? (Math.max(...times) - Math.min(...times)) / 1000 : null;
  return { calls, inputTokens, outputTokens, seconds };
}

/** The totals as notes: `12 calls`, `34K in`, `2.1K out`. */
export const totalNotes = ({ calls, inputTokens, outputTokens }: Totals): readonly string[] => [
  ...(calls ? [plural(calls, "call")] : []),
  ...(inputTokens ? [`${compact(inputTokens)} in`] : []),
  ...(outputTokens ? [`${compact(outputTokens)} out`] : []),
];

/** Whether the first message of the sub-agent is its prompt. */
export function startsWithPrompt(messages: readonly Message[], prompt: string): boolean {
  const first = messages[0];
  if (first?.role !== "user") return false;
  return textIn(first).trim() === prompt.trim();
}
