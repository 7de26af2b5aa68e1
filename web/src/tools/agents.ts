/** Sub-agents and networks: who was sent, with what, and what they did. */
import type { Message, NetworkExecution, ToolCallPart } from "../partita.gen";
import { type Call, word } from "./call";
import { isObject, written } from "./json";

export const agentName = (call: Call): string =>
  word(call, "subagent_type", "agent_type", "agent", "agent_name", "role") || "sub-agent";
export const aimOf = (call: Call): string => word(call, "description", "title", "task_name");
export const promptOf = (call: Call): string =>
  word(call, "prompt", "message", "task", "instructions", "input") || call.words;

/** The network run that a call stands for. */
export function networkOf(part: ToolCallPart): NetworkExecution | null {
  const found = part.toolMetadata?.networkExecution;
  return isObject(found) ? (found as unknown as NetworkExecution) : null;
}

/** What a network's choice was given. */
export function networkPrompt(network: NetworkExecution): string {
  const { input } = network;
  if (isObject(input) && typeof input.prompt === "string") return input.prompt;
  return input === undefined ? "" : written(input, 2);
}

/** The messages below a call, wherever they are kept. */
export function childrenOf(part: ToolCallPart): readonly Message[] {
  if (part.children?.length) return part.children;
  return networkOf(part)?.finalResult?.messages ?? [];
}

/** Whether the answer is already there as the last words of the sub-agent itself. */
export function isSaidAlready(messages: readonly Message[], answer: string): boolean {
  const words = messages
    .at(-1)
    ?.content.parts.flatMap((part) => (part.type === "text" ? [(part as { text: string }).text] : []));
  return words !== undefined && answer !== "" && words.join("").trim() === answer.trim();
}
