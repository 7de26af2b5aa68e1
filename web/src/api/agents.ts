/** The agents that can be asked, and threads to ask them in. */
import { useQuery } from "@tanstack/react-query";
import type { Thread } from "../partita.gen";
import { getJson, type Listing, sendJson } from "./client";

export interface ToolInfo {
  readonly name: string;
  readonly description?: string;
  /** Whether this side runs it, and gives its output. */
  readonly runsOnClient?: boolean;
}

export interface AgentInfo {
  readonly name: string;
  /** What it calls itself: threads and runs are stored under this name. */
  readonly kind: string;
  readonly isDefault?: boolean;
  readonly description?: string;
  readonly model?: string;
  readonly tools?: readonly ToolInfo[];
  /** Absent: it can be asked. */
  readonly available?: boolean;
  /** What is to be done before it can: `set ANTHROPIC_API_KEY`. */
  readonly missing?: string;
}

export const isAvailable = (agent: AgentInfo): boolean => agent.available !== false;

export function useAgents() {
  return useQuery({
    queryKey: ["agents"],
    queryFn: ({ signal }) => getJson<Listing<AgentInfo>>("api/agents", undefined, signal),
    staleTime: 60_000,
    select: (page) => page.items,
  });
}

export const createThread = (title: string, agent?: string): Promise<Thread> =>
  sendJson("POST", "api/threads", { title, agent });

/** A new thread with what leads to a message, to go on from there. */
export const forkThread = (threadId: string, messageId: string, title?: string): Promise<Thread> =>
  sendJson("POST", `api/threads/${encodeURIComponent(threadId)}/fork`, { messageId, title });
