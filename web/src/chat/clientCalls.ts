/** Calls that wait for this side: their tools run in the page, or somebody says what came of them. */
import { useCallback, useMemo } from "react";
import type { AgentInfo } from "../api/agents";
import type { Message, ToolCallPart } from "../partita.gen";
import type { Viewing } from "../viewing/viewing";
import { isClientTool, runClientTool } from "./clientTools";
import type { Live } from "./live";

/** Whether a tool of an agent runs on this side; of one that tells nothing about its tools, those that the page knows. */
const isOurs = (name: string, agent: AgentInfo | undefined): boolean =>
  agent?.tools ? agent.tools.some((one) => one.name === name && one.runsOnClient) : isClientTool(name);

/** The calls of a message that nothing has come of, and whose tools run on this side. */
export function waitingCalls(
  message: Message | undefined,
  agent: AgentInfo | undefined,
): readonly ToolCallPart[] {
  if (message?.role !== "assistant") return [];
  return message.content.parts.filter(
    (part): part is ToolCallPart =>
      part.type === "tool-call" &&
      part.state === "input-available" &&
      part.output === undefined &&
      part.providerExecuted !== true &&
      isOurs(part.name as string, agent),
  );
}

/**
 * How one replies to what waits in the last message, whether the page was there when it was called or not. Nothing
 * waits while the answer is still coming: until then, the page may run the tool by itself.
 */
export function useReplying(
  last: Message | undefined,
  agent: AgentInfo | undefined,
  { status, giveOutput }: Pick<Live, "status" | "giveOutput">,
): Viewing["replying"] {
  const rests = status === "idle" || status === "waiting";
  const key = JSON.stringify(rests ? waitingCalls(last, agent).map(({ id }) => id) : []);
  const waiting = useMemo(() => new Set<string>(JSON.parse(key)), [key]);
  return useCallback(
    (call: ToolCallPart) => {
      if (!waiting.has(call.id) || call.state !== "input-available") return undefined;
      const give = (output: unknown) => giveOutput(call, { output });
      return {
        give,
        decline: (why: string) => giveOutput(call, { errorText: why }),
        ...(isClientTool(call.name) ? { run: async () => give(runClientTool(call.name)) } : {}),
      };
    },
    [waiting, giveOutput],
  );
}
