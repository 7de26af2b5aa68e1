/** Whether a thread can be gone on with where it is, or only in a copy; and who is asked in it. */
import { type AgentInfo, isAvailable } from "../api/agents";
import type { Run, Thread } from "../partita.gen";

/** The session of an agent that wrote it somewhere else, and may go on with it there. */
export const isImported = ({ metadata }: Thread): boolean =>
  typeof metadata?.sessionId === "string" && metadata.clone === undefined;

/**
 * Who is asked unless somebody else is chosen: whoever answered last (runs know what an agent calls itself), the
 * thread's own agent, or the first that can be asked.
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

/** Why nobody can write here; null when one can. */
export function hindrance(thread: Thread | undefined, agents: readonly AgentInfo[]): string | null {
  if (!agents.some(isAvailable)) return "This server has no agent that can answer.";
  if (thread && isImported(thread))
    return `This session was written by ${thread.agent ?? "an agent"} elsewhere, and is only read here.`;
  return null;
}

const nameOf = (threadId: string) => `partita.agent.${threadId}`;

/** Whom somebody has chosen for a thread, and after which run. */
export function rememberAgent(threadId: string, agent: string, newest?: Pick<Run, "id">): void {
  sessionStorage.setItem(nameOf(threadId), JSON.stringify([agent, newest?.id ?? null]));
}

/** Whom somebody has chosen, if he can be asked and nobody else has answered since. */
export function rememberedAgent(
  threadId: string | undefined,
  agents: readonly AgentInfo[],
  newest?: Pick<Run, "id" | "agent">,
): string | undefined {
  const [name, after] = read(threadId);
  const chosen = agents.find((one) => one.name === name && isAvailable(one));
  const stands = !newest || newest.id === after || newest.agent === chosen?.kind;
  return stands ? chosen?.name : undefined;
}

function read(threadId: string | undefined): readonly unknown[] {
  const kept = threadId === undefined ? null : sessionStorage.getItem(nameOf(threadId));
  try {
    const value: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // somebody else wrote it
  }
}
