// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentInfo } from "../../src/api/agents";
import { useReplying, waitingCalls } from "../../src/chat/clientCalls";
import type { Given, LiveStatus } from "../../src/chat/live";
import type { AssistantMessage, ToolCallPart } from "../../src/partita.gen";
import { ToolCard } from "../../src/tools/ToolCard";
import { type Viewing, ViewingProvider } from "../../src/viewing/viewing";

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

describe("a call waits for this side", () => {
  it.each([
    ["a tool that the agent leaves to it", call("ask_skipper"), AGENT, true],
    ["a tool that the agent runs itself", call("bash"), AGENT, false],
    ["a tool that the page knows, of an agent that tells nothing", call("get_local_time"), undefined, true],
    ["another one of such an agent", call("ask_skipper"), undefined, false],
    ["a call with an output", call("ask_skipper", { output: { type: "text", value: "" } }), AGENT, false],
    ["a call whose input is still coming", call("ask_skipper", { state: "input-streaming" }), AGENT, false],
    ["a call that has failed", call("ask_skipper", { state: "output-error" }), AGENT, false],
    ["a call that the provider runs", call("ask_skipper", { providerExecuted: true }), AGENT, false],
  ])("%s", (_name, part, agent, waits) => {
    expect(waitingCalls(message(part), agent)).toEqual(waits ? [part] : []);
  });

  it("in no message of the user", () => {
    expect(
      waitingCalls({ role: "user", id: "u", type: "text", content: { format: 2, parts: [] } }, AGENT),
    ).toEqual([]);
    expect(waitingCalls(undefined, AGENT)).toEqual([]);
  });
});

/** The card of a call in the last message, and what is given to it. */
function draw(part: ToolCallPart, status: LiveStatus = "idle") {
  const given: (readonly [string, Given])[] = [];
  const giveOutput = async ({ id }: ToolCallPart, what: Given) => void given.push([id, what]);
  function Card() {
    const replying = useReplying(message(part), AGENT, { status, giveOutput });
    const viewing: Viewing = {
      live: false,
      timing: () => undefined,
      loadBlob: () => Promise.reject(new Error("no blobs")),
      blobHref: () => null,
      Messages: () => null,
      replying,
    };
    return (
      <ViewingProvider value={viewing}>
        <ToolCard call={part} place={{ messageId: "m", path: "0" }} />
      </ViewingProvider>
    );
  }
  render(<Card />);
  return given;
}

const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
const write = (text: string) => fireEvent.change(screen.getByRole("textbox"), { target: { value: text } });

describe("what waits for this side", () => {
  it("is run here, where the page knows the tool", async () => {
    const given = draw(call("get_local_time"));
    screen.getByText("Waiting for your side");
    press("Run here");
    await waitFor(() =>
      expect(given).toEqual([
        ["call-get_local_time", { output: expect.objectContaining({ time: expect.any(String) }) }],
      ]),
    );
  });

  it.each([
    ["north by east", "north by east"],
    ['{"degrees": 11}', { degrees: 11 }],
  ])("is answered with what somebody writes: %s", async (text, output) => {
    const given = draw(call("ask_skipper"));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Give output" }).disabled).toBe(true);
    write(text);
    press("Give output");
    await waitFor(() => expect(given).toEqual([["call-ask_skipper", { output }]]));
  });

  it.each([
    ["he is asleep", "he is asleep"],
    ["", "The user declined."],
  ])("is declined for a reason: %s", async (text, errorText) => {
    const given = draw(call("ask_skipper"));
    if (text) write(text);
    press("Decline");
    await waitFor(() => expect(given).toEqual([["call-ask_skipper", { errorText }]]));
  });

  it.each([
    ["while the answer is coming", call("ask_skipper"), "streaming"],
    ["for a tool that the agent runs", call("bash"), "idle"],
  ] as const)("offers nothing %s", (_name, part, status) => {
    draw(part, status);
    expect(screen.queryByRole("button", { name: "Decline" })).toBeNull();
  });
});
