/** The agents of the server. */
import { useQuery } from "@tanstack/react-query";
import type { Thread } from "../partita.gen";
import { getJson, type Listing, sendJson } from "./client";

export interface ToolInfo {
  readonly name: string;
  readonly description?: string;
  /** The browser runs the tool and sends its output. */
  readonly runsOnClient?: boolean;
}

export interface AgentInfo {
  readonly name: string;
  /** The name under which its threads and runs are stored. */
  readonly kind: string;
  readonly isDefault?: boolean;
  readonly description?: string;
  readonly model?: string;
  readonly tools?: readonly ToolInfo[];
  /** False if a key or a program is missing; absent if the agent can be used. */
  readonly available?: boolean;
  /** What the user has to do to use it: `set ANTHROPIC_API_KEY`. */
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
