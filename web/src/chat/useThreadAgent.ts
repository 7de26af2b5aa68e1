/** The agent of a thread: the one that the user selected or that answered last. It survives a reload of the page. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { type AgentInfo, useAgents } from "../api/agents";
import { listRuns } from "../api/runs";
import { isImported } from "../api/threads";
import type { Thread } from "../partita.gen";
import { agentFor, rememberAgent, rememberedAgent } from "./agentChoice";

interface ThreadAgent {
  /** The agent that receives the next message. */
  readonly agent: string | undefined;
  /** The agent that answered last, which continues pending calls. */
  readonly last: AgentInfo | undefined;
  readonly choose: (name: string) => void;
  /** Checks which agent answered the newest run. */
  readonly refresh: () => Promise<void>;
}

const NO_AGENTS: readonly AgentInfo[] = [];

export function useThreadAgent(threadId: string, thread: Thread | undefined): ThreadAgent {
  const queries = useQueryClient();
  const { data: agents = NO_AGENTS } = useAgents();
  const { data: newest } = useQuery({
    queryKey: ["newest run", threadId],
    enabled: thread !== undefined && !isImported(thread),
    queryFn: async ({ signal }) => (await listRuns({ threadId, limit: 1 }, signal)).items[0] ?? null,
  });
  const run = newest ?? undefined;
  const [, setChosen] = useState("");
  const choose = useCallback(
    (name: string) => {
      rememberAgent(threadId, name, run);
      setChosen(name);
    },
    [threadId, run],
  );
  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["newest run", threadId] }),
    [queries, threadId],
  );
  const chosen = rememberedAgent(threadId, agents, run);
  const fallback = agentFor(thread, agents, run);
  const answered = chosen !== undefined && run?.agent === kindOf(agents, chosen) ? chosen : fallback;
  return {
    agent: chosen ?? fallback,
    last: agents.find((one) => one.name === answered),
    choose,
    refresh,
  };
}

const kindOf = (agents: readonly AgentInfo[], name: string): string | undefined =>
  agents.find((one) => one.name === name)?.kind;
