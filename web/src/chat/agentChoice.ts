/** Which agent answers in a thread, and whether the thread can be continued at all. */
import { type AgentInfo, isAvailable } from "../api/agents";
import { isImported } from "../api/threads";
import type { Run, Thread } from "../partita.gen";
import { agentName } from "../ui/AgentMark";

/**
 * The default agent of a thread: the agent of the newest run (runs store its `kind`), the agent of the thread, or the
 * first available one.
 */
export function agentFor(
  thread: Thread | undefined,
  agents: readonly AgentInfo[],
  newest?: Pick<Run, "agent">,
): string | undefined {
  const usable = agents.filter(isAvailable);
  const own =
    usable.find((one) => one.name === thread?.agent) ?? usable.find((one) => one.kind === thread?.agent);
  const last = own?.kind === newest?.agent ? own : usable.find((one) => one.kind === newest?.agent);
  return (last ?? own ?? usable[0])?.name;
}

/** Why messages cannot be sent in a thread; null if they can. */
export function blockedReason(thread: Thread | undefined, agents: readonly AgentInfo[]): string | null {
  if (!agents.some(isAvailable)) return "No agent is available on this server.";
  if (thread && isImported(thread))
    return `This session was imported from ${thread.agent ? agentName(thread.agent) : "another agent"} and is read-only.`;
  return null;
}

const nameOf = (threadId: string) => `partita.agent.${threadId}`;

/** Stores the agent that the user selected for a thread, and the newest run at that time. */
export function rememberAgent(threadId: string, agent: string, newest?: Pick<Run, "id">): void {
  sessionStorage.setItem(nameOf(threadId), JSON.stringify([agent, newest?.id ?? null]));
}

/** The agent that the user selected, if it is available and no other agent has answered since. */
export function rememberedAgent(
  threadId: string | undefined,
  agents: readonly AgentInfo[],
  newest?: Pick<Run, "id" | "agent">,
): string | undefined {
  const [name, after] = read(threadId);
  const chosen = agents.find((one) => one.name === name && isAvailable(one));
  const isCurrent = !newest || newest.id === after || newest.agent === chosen?.kind;
  return isCurrent ? chosen?.name : undefined;
}

function read(threadId: string | undefined): readonly unknown[] {
  const stored = threadId === undefined ? null : sessionStorage.getItem(nameOf(threadId));
  try {
    const value: unknown = JSON.parse(stored ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // not written by this page
  }
}
