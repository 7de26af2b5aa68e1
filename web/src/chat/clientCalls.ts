/** Pending calls of client-side tools: the page runs the tool, or the user enters its output. */
import { useCallback, useMemo } from "react";
import type { AgentInfo } from "../api/agents";
import type { RenderContext } from "../context/renderContext";
import type { Message, ToolCallPart } from "../partita.gen";
import { isClientTool, runClientTool } from "./clientTools";
import type { Live, LiveStatus } from "./live";
import { needsApproval } from "./messages";

/** Whether a tool runs in the browser. If the agent does not list its tools: whether the page has the tool. */
const runsInBrowser = (name: string, agent: AgentInfo | undefined): boolean =>
  agent?.tools ? agent.tools.some((one) => one.name === name && one.runsOnClient) : isClientTool(name);

/** The calls of client-side tools in a message that have no output yet. */
export function pendingClientCalls(
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
      runsInBrowser(part.name as string, agent),
  );
}

/** Whether a message waits for the user: for an approval, or for the output of a client-side tool. */
export const waitsForUser = (
  message: Message | undefined,
  agent: AgentInfo | undefined,
  { status }: Pick<Live, "status">,
): boolean =>
  message !== undefined &&
  isPaused(status) &&
  (needsApproval(message) || pendingClientCalls(message, agent).length > 0);

const isPaused = (status: LiveStatus): boolean => status === "idle" || status === "waiting";

/**
 * The actions on pending client-side calls of the last message. There are none while the message is streaming: until
 * it ends, the page may run the tool itself.
 */
export function useClientCallActions(
  last: Message | undefined,
  agent: AgentInfo | undefined,
  { status, addToolOutput }: Pick<Live, "status" | "addToolOutput">,
): RenderContext["clientCallActions"] {
  const key = JSON.stringify(isPaused(status) ? pendingClientCalls(last, agent).map(({ id }) => id) : []);
  const pending = useMemo(() => new Set<string>(JSON.parse(key)), [key]);
  return useCallback(
    (call: ToolCallPart) => {
      if (!pending.has(call.id) || call.state !== "input-available") return undefined;
      const submit = (output: unknown) => addToolOutput(call, { output });
      return {
        submit,
        decline: (reason: string) => addToolOutput(call, { errorText: reason }),
        ...(isClientTool(call.name) ? { run: async () => submit(runClientTool(call.name)) } : {}),
      };
    },
    [pending, addToolOutput],
  );
}
