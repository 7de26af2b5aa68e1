// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AgentInfo } from "../../src/api/agents";
import { pendingClientCalls, useClientCallActions } from "../../src/chat/clientCalls";
import type { ClientToolResult, LiveStatus } from "../../src/chat/live";
import { type RenderContext, RenderProvider } from "../../src/context/renderContext";
import type { AssistantMessage, ToolCallPart } from "../../src/partita.gen";
import { loadBodies } from "../../src/tools/bodyLoader";
import { ToolCard } from "../../src/tools/ToolCard";

beforeAll(loadBodies);
afterEach(cleanup);

const AGENT: AgentInfo = {
  name: "demo",
  kind: "demo",
  tools: [
    { name: "get_local_time", runsOnClient: true },
    { name: "ask_skipper", runsOnClient: true },
    { name: "bash" },
  ],
};

const call = (name: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: "tool-call",
  id: `call-${name}`,
  name,
  state: "input-available",
  input: {},
  ...more,
});

const message = (...parts: readonly ToolCallPart[]): AssistantMessage => ({
  role: "assistant",
  id: "m",
  type: "tool",
  content: { format: 2, parts },
});

describe("a pending client-side call", () => {
  it.each([
    ["is a call of a tool that runs on the client", call("ask_skipper"), AGENT, true],
    ["is not a call of a tool that the agent runs", call("bash"), AGENT, false],
    [
      "is a call of a tool of the page, if the agent does not list its tools",
      call("get_local_time"),
      undefined,
      true,
    ],
    ["is not a call of another tool of such an agent", call("ask_skipper"), undefined, false],
    [
      "is not a call with an output",
      call("ask_skipper", { output: { type: "text", value: "" } }),
      AGENT,
      false,
    ],
    [
      "is not a call whose input is streaming",
      call("ask_skipper", { state: "input-streaming" }),
      AGENT,
      false,
    ],
    ["is not a failed call", call("ask_skipper", { state: "output-error" }), AGENT, false],
    ["is not a call that the provider runs", call("ask_skipper", { providerExecuted: true }), AGENT, false],
  ])("%s", (_name, part, agent, isPending) => {
    expect(pendingClientCalls(message(part), agent)).toEqual(isPending ? [part] : []);
  });

  it("is never in a user message", () => {
    expect(
      pendingClientCalls({ role: "user", id: "u", type: "text", content: { format: 2, parts: [] } }, AGENT),
    ).toEqual([]);
    expect(pendingClientCalls(undefined, AGENT)).toEqual([]);
  });
});

/** Renders the card of a call in the last message. Returns the results that are sent. */
function renderCard(part: ToolCallPart, status: LiveStatus = "idle") {
  const sent: (readonly [string, ClientToolResult])[] = [];
  const addToolOutput = async ({ id }: ToolCallPart, result: ClientToolResult) =>
    void sent.push([id, result]);
  function Card() {
    const clientCallActions = useClientCallActions(message(part), AGENT, { status, addToolOutput });
    const context: RenderContext = {
      live: false,
      timing: () => undefined,
      loadBlob: () => Promise.reject(new Error("no blobs")),
      blobHref: () => null,
      Messages: () => null,
      clientCallActions,
    };
    return (
      <RenderProvider value={context}>
        <ToolCard call={part} place={{ messageId: "m", path: "0" }} />
      </RenderProvider>
    );
  }
  render(<Card />);
  return sent;
}

const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
const write = (text: string) => fireEvent.change(screen.getByRole("textbox"), { target: { value: text } });

describe("the card of a client-side call", () => {
  it("runs a tool of the page", async () => {
    const sent = renderCard(call("get_local_time"));
    screen.getByText("Waiting for you");
    press("Run here");
    await waitFor(() =>
      expect(sent).toEqual([
        ["call-get_local_time", { output: expect.objectContaining({ time: expect.any(String) }) }],
      ]),
    );
  });

  it.each([
    ["north by east", "north by east"],
    ['{"degrees": 11}', { degrees: 11 }],
  ])("sends the entered output: %s", async (text, output) => {
    const sent = renderCard(call("ask_skipper"));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send output" }).disabled).toBe(true);
    write(text);
    press("Send output");
    await waitFor(() => expect(sent).toEqual([["call-ask_skipper", { output }]]));
  });

  it.each([
    ["he is asleep", "he is asleep"],
    ["", "The user declined."],
  ])("declines with a reason: %s", async (text, errorText) => {
    const sent = renderCard(call("ask_skipper"));
    if (text) write(text);
    press("Decline");
    await waitFor(() => expect(sent).toEqual([["call-ask_skipper", { errorText }]]));
  });

  it.each([
    ["while the response is streaming", call("ask_skipper"), "streaming"],
    ["for a tool that the agent runs", call("bash"), "idle"],
  ] as const)("has no buttons %s", (_name, part, status) => {
    renderCard(part, status);
    expect(screen.queryByRole("button", { name: "Decline" })).toBeNull();
  });
});
