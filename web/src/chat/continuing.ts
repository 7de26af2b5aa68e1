/** Whether a thread can be gone on with where it is, or only in a copy. */
import { type AgentInfo, isAvailable } from "../api/agents";
import type { Thread } from "../partita.gen";

/** The session of an agent that wrote it somewhere else, and may go on with it there. */
export const isImported = ({ metadata }: Thread): boolean =>
  typeof metadata?.sessionId === "string" && metadata.clone === undefined;

/** Who is asked unless somebody else is chosen: the thread's own agent if it can be, or the first that can. */
export function agentFor(thread: Thread | undefined, agents: readonly AgentInfo[]): string | undefined {
  const usable = agents.filter(isAvailable);
  const own =
    usable.find((one) => one.name === thread?.agent) ?? usable.find((one) => one.kind === thread?.agent);
  return (own ?? usable[0])?.name;
}

/** Why nobody can write here; null when one can. */
export function hindrance(thread: Thread | undefined, agents: readonly AgentInfo[]): string | null {
  if (!agents.some(isAvailable)) return "This server has no agent that can answer.";
  if (thread && isImported(thread))
    return `This session was written by ${thread.agent ?? "an agent"} elsewhere, and is only read here.`;
  return null;
}

const nameOf = (threadId: string) => `partita.agent.${threadId}`;

/** Whom somebody has chosen for a thread, before it was shown. */
export function rememberAgent(threadId: string, agent: string): void {
  sessionStorage.setItem(nameOf(threadId), agent);
}

export function rememberedAgent(
  threadId: string | undefined,
  agents: readonly AgentInfo[],
): string | undefined {
  const name = threadId === undefined ? null : sessionStorage.getItem(nameOf(threadId));
  return agents.find((one) => one.name === name && isAvailable(one))?.name;
}
