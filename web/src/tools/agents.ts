/** Sub-agents and networks: the messages nested under a call. */
import type { Message, NetworkExecution, ToolCallPart } from "../partita.gen";
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
  const texts = messages
    .at(-1)
    ?.content.parts.flatMap((part) => (part.type === "text" ? [(part as { text: string }).text] : []));
  return texts !== undefined && text !== "" && texts.join("").trim() === text.trim();
}
