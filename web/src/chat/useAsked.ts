/** Who is asked in a thread: whoever was chosen or answered last, also after the page was loaded anew. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { type AgentInfo, useAgents } from "../api/agents";
import { listRuns } from "../api/runs";
import type { Thread } from "../partita.gen";
import { agentFor, isImported, rememberAgent, rememberedAgent } from "./continuing";

export interface Asked {
  /** Who is asked next. */
  readonly agent: string | undefined;
  /** Who answered last, and goes on with what waits. */
  readonly last: AgentInfo | undefined;
  readonly choose: (name: string) => void;
  /** A run may have come: look who answered. */
  readonly again: () => Promise<void>;
}

const NOBODY: readonly AgentInfo[] = [];

export function useAsked(threadId: string, thread: Thread | undefined): Asked {
  const queries = useQueryClient();
  const { data: agents = NOBODY } = useAgents();
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
  const again = useCallback(
    () => queries.invalidateQueries({ queryKey: ["newest run", threadId] }),
    [queries, threadId],
  );
  const chosen = rememberedAgent(threadId, agents, run);
  const before = agentFor(thread, agents, run);
  const answered = chosen !== undefined && run?.agent === kindOf(agents, chosen) ? chosen : before;
  return {
    agent: chosen ?? before,
    last: agents.find((one) => one.name === answered),
    choose,
    again,
  };
}

const kindOf = (agents: readonly AgentInfo[], name: string): string | undefined =>
  agents.find((one) => one.name === name)?.kind;
