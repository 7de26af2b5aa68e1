// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { AgentInfo } from "../../src/api/agents";
import { Problem } from "../../src/api/client";
import { agentFor, blockedReason, rememberAgent, rememberedAgent } from "../../src/chat/agentChoice";
import { MAX_BYTES, splitBySize } from "../../src/chat/attachments";
import { fileParts, holds, isBroken } from "../../src/chat/messages";
import type { Message, UserMessage } from "../../src/partita.gen";

const demo: AgentInfo = { name: "demo", kind: "demo" };
const named: AgentInfo = { name: "support", kind: "keeper" };
const unavailable: AgentInfo = { name: "codex", kind: "codex", available: false, missing: "install codex" };

describe("the default agent of a thread", () => {
  it.each([
    ["is the agent of the thread", { id: "t", agent: "support" }, "support"],
    ["is the agent whose kind the thread names", { id: "t", agent: "keeper" }, "support"],
    [
      "is the first available agent if that of the thread is not available",
      { id: "t", agent: "codex" },
      "demo",
    ],
    ["is the first available agent if the thread has none", { id: "t" }, "demo"],
    ["is the first available agent in a new thread", undefined, "demo"],
  ] as const)("%s", (_name, thread, expected) => {
    expect(agentFor(thread, [unavailable, demo, named])).toBe(expected);
  });

  it.each([
    ["is the agent of the newest run", { id: "t", agent: "demo" }, "keeper", "support"],
    [
      "is the agent of the thread if the newest run has the same kind",
      { id: "t", agent: "night" },
      "keeper",
      "night",
    ],
    [
      "is the agent of the thread if that of the newest run is not available",
      { id: "t", agent: "support" },
      "codex",
      "support",
    ],
  ] as const)("%s", (_name, thread, lastKind, expected) => {
    const night: AgentInfo = { name: "night", kind: "keeper" };
    expect(agentFor(thread, [unavailable, demo, named, night], { agent: lastKind })).toBe(expected);
  });

  it("is undefined if no agent is available", () => {
    expect(agentFor(undefined, [unavailable])).toBeUndefined();
    expect(blockedReason(undefined, [unavailable])).toMatch("No agent");
  });
});

describe("the selected agent of a thread", () => {
  it("is remembered while it is available", () => {
    rememberAgent("t1", "support");
    rememberAgent("t2", "codex");
    expect(rememberedAgent("t1", [demo, named])).toBe("support");
    expect(rememberedAgent("t2", [demo, unavailable])).toBeUndefined();
    expect(rememberedAgent(undefined, [demo])).toBeUndefined();
    sessionStorage.setItem("partita.agent.t3", "support");
    expect(rememberedAgent("t3", [demo, named])).toBeUndefined(); // not written by this page
  });

  it("is remembered until another agent answers", () => {
    rememberAgent("t4", "support", { id: "r1" });
    expect(rememberedAgent("t4", [demo, named], { id: "r1", agent: "demo" })).toBe("support");
    expect(rememberedAgent("t4", [demo, named], { id: "r2", agent: "keeper" })).toBe("support");
    expect(rememberedAgent("t4", [demo, named], { id: "r3", agent: "demo" })).toBeUndefined();
  });
});

describe("sending of messages", () => {
  it.each([
    ["is possible in a thread of this server", { id: "t", agent: "demo" }, false],
    [
      "is not possible in an imported thread",
      { id: "t", agent: "codex", metadata: { sessionId: "s" } },
      true,
    ],
    [
      "is possible in a copy of an imported thread",
      { id: "t", metadata: { sessionId: "s", clone: { threadId: "t" } } },
      false,
    ],
  ] as const)("%s", (_name, thread, isBlocked) => {
    expect(blockedReason(thread, [demo]) !== null).toBe(isBlocked);
  });
});

describe("attached files", () => {
  const file = (name: string, size: number) => ({ name, size }) as File;

  it("are accepted up to the total size limit", () => {
    const [accepted, rejected] = splitBySize([file("a", MAX_BYTES - 10), file("b", 20), file("c", 5)], 0);
    expect(accepted.map((one) => one.name)).toEqual(["a", "c"]);
    expect(rejected.map((one) => one.name)).toEqual(["b"]);
    expect(splitBySize([file("d", 1)], MAX_BYTES)[1]).toHaveLength(1);
  });

  it("are sent again when their message is edited", () => {
    const message = {
      content: {
        parts: [
          { type: "text", text: "Look" },
          { type: "image", url: "blob:sha256:aa", mediaType: "image/png", name: "a.png" },
          { type: "file", url: "data:text/plain,hi", mediaType: "text/plain", filename: "b.txt" },
        ],
      },
    } as unknown as UserMessage;
    expect(fileParts(message)).toEqual([
      { type: "file", url: "blob:sha256:aa", mediaType: "image/png", filename: "a.png" },
      { type: "file", url: "data:text/plain,hi", mediaType: "text/plain", filename: "b.txt" },
    ]);
  });
});

describe("a lost connection", () => {
  it.each([
    ["is a network error", new TypeError("network error"), true],
    ["is a server that does not respond", new Problem(0, "no"), true],
    ["is a gateway error", new Problem(503, "no"), true],
    ["is not a rejected request", new Problem(409, "no"), false],
    ["is not an error of the agent", new Error("it failed"), false],
  ])("%s", (_name, error, expected) => {
    expect(isBroken(error)).toBe(expected);
  });
});

describe("the search for a call", () => {
  it("includes the messages of sub-agents", () => {
    const call = (id: string, children: unknown[] = []) => ({ type: "tool-call", id, children });
    const message = (...parts: unknown[]) => ({ content: { parts } }) as unknown as Message;
    const deep = message({ type: "text" }, call("a", [message(call("b", [message(call("c"))]))]));
    expect(holds(deep, "a")).toBe(true);
    expect(holds(deep, "c")).toBe(true);
    expect(holds(deep, "d")).toBe(false);
  });
});
