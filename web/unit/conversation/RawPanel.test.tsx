// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { RawPanel } from "../../src/conversation/RawPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const RECORD = { runId: "r1", seq: 1, time: "2026-03-01T12:00:00Z", raw: "{}" };

/** Renders the panel of a message. The server returns this run. */
function open(run: object): void {
  const respond = (url: string) => (url.includes("api/runs/r1") ? run : { items: [RECORD], exact: true });
  vi.stubGlobal("fetch", (url: string | URL | Request) =>
    Promise.resolve(Response.json(respond(url instanceof Request ? url.url : String(url)))),
  );
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RawPanel threadId="t1" messageId="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
}

it("shows the result of the agent", async () => {
  open({ id: "r1", threadId: "t1", status: "completed", agentResult: { turns: 3 } });
  const result = await screen.findByText("Agent result");
  expect(result.parentElement?.querySelector("pre")?.textContent).toBe('{\n  "turns": 3\n}');
});

it("shows no result of a run without one", async () => {
  open({ id: "r1", threadId: "t1", status: "completed" });
  await screen.findByText("1 event");
  expect(screen.queryByText("Agent result")).toBeNull();
});
