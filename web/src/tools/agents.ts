/** Sub-agents and networks: the messages below a call. */
import type { Message, NetworkExecution, ToolCallPart } from "../partita.gen";
import { isObject } from "./json";

/** The network run that a call stands for. */
export function networkOf(part: ToolCallPart): NetworkExecution | null {
  const found = part.toolMetadata?.networkExecution;
  return isObject(found) ? (found as unknown as NetworkExecution) : null;
}

/** The messages below a call, wherever they are kept. */
export function childrenOf(part: ToolCallPart): readonly Message[] {
  if (part.children?.length) return part.children;
  return networkOf(part)?.finalResult?.messages ?? [];
}

/** Whether the last message of the sub-agent has the same text as its answer. */
export function isSaidAlready(messages: readonly Message[], answer: string): boolean {
  const texts = messages
    .at(-1)
    ?.content.parts.flatMap((part) => (part.type === "text" ? [(part as { text: string }).text] : []));
  return texts !== undefined && answer !== "" && texts.join("").trim() === answer.trim();
}
