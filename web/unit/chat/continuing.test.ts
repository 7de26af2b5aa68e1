// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { AgentInfo } from "../../src/api/agents";
import { Problem } from "../../src/api/client";
import { fitting, MOST_BYTES } from "../../src/chat/attachments";
import { agentFor, hindrance, rememberAgent, rememberedAgent } from "../../src/chat/continuing";
import { fileParts, holds, isBroken } from "../../src/chat/messages";
import type { Message, UserMessage } from "../../src/partita.gen";

const demo: AgentInfo = { name: "demo", kind: "demo" };
const named: AgentInfo = { name: "support", kind: "keeper" };
const greyed: AgentInfo = { name: "codex", kind: "codex", available: false, missing: "install codex" };

describe("who is asked in a thread", () => {
  it.each([
    ["its own agent", { id: "t", agent: "support" }, "support"],
    ["by what it calls itself", { id: "t", agent: "keeper" }, "support"],
    ["the first, if its own cannot be asked", { id: "t", agent: "codex" }, "demo"],
    ["the first, if it has none", { id: "t" }, "demo"],
    ["the first in a new one", undefined, "demo"],
  ] as const)("%s", (_name, thread, expected) => {
    expect(agentFor(thread, [greyed, demo, named])).toBe(expected);
  });

  it.each([
    ["whoever answered last", { id: "t", agent: "demo" }, "keeper", "support"],
    ["its own, if the same kind answered", { id: "t", agent: "night" }, "keeper", "night"],
    ["its own, if who answered last is gone", { id: "t", agent: "support" }, "codex", "support"],
  ] as const)("%s", (_name, thread, answered, expected) => {
    const night: AgentInfo = { name: "night", kind: "keeper" };
    expect(agentFor(thread, [greyed, demo, named, night], { agent: answered })).toBe(expected);
  });

  it("is nobody where nobody can be asked", () => {
    expect(agentFor(undefined, [greyed])).toBeUndefined();
    expect(hindrance(undefined, [greyed])).toMatch("no agent");
  });

  it("is whom somebody has chosen, if he can be asked", () => {
    rememberAgent("t1", "support");
    rememberAgent("t2", "codex");
    expect(rememberedAgent("t1", [demo, named])).toBe("support");
    expect(rememberedAgent("t2", [demo, greyed])).toBeUndefined();
    expect(rememberedAgent(undefined, [demo])).toBeUndefined();
    sessionStorage.setItem("partita.agent.t3", "support");
    expect(rememberedAgent("t3", [demo, named])).toBeUndefined(); // nothing that was written here
  });

  it("is whom somebody has chosen until somebody else answers", () => {
    rememberAgent("t4", "support", { id: "r1" });
    expect(rememberedAgent("t4", [demo, named], { id: "r1", agent: "demo" })).toBe("support");
    expect(rememberedAgent("t4", [demo, named], { id: "r2", agent: "keeper" })).toBe("support");
    expect(rememberedAgent("t4", [demo, named], { id: "r3", agent: "demo" })).toBeUndefined();
  });
});

describe("where one may write", () => {
  it.each([
    ["a thread of this server", { id: "t", agent: "demo" }, false],
    ["a session that was read from a log", { id: "t", agent: "codex", metadata: { sessionId: "s" } }, true],
    ["a copy of one", { id: "t", metadata: { sessionId: "s", clone: { threadId: "t" } } }, false],
  ] as const)("%s", (_name, thread, isHindered) => {
    expect(hindrance(thread, [demo]) !== null).toBe(isHindered);
  });
});

describe("files", () => {
  const file = (name: string, size: number) => ({ name, size }) as File;

  it("are taken as long as all of them fit", () => {
    const [taken, refused] = fitting([file("a", MOST_BYTES - 10), file("b", 20), file("c", 5)], 0);
    expect(taken.map((one) => one.name)).toEqual(["a", "c"]);
    expect(refused.map((one) => one.name)).toEqual(["b"]);
    expect(fitting([file("d", 1)], MOST_BYTES)[1]).toHaveLength(1);
  });

  it("of a message are sent again when it is edited", () => {
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

describe("small questions", () => {
  it.each([
    ["a stream that was cut", new TypeError("network error"), true],
    ["a server that does not answer", new Problem(0, "no"), true],
    ["a gateway without a server", new Problem(503, "no"), true],
    ["a server that says no", new Problem(409, "no"), false],
    ["an agent that failed", new Error("it failed"), false],
  ])("%s", (_name, error, expected) => {
    expect(isBroken(error)).toBe(expected);
  });

  it("a call is found in what sub-agents said", () => {
    const call = (id: string, children: unknown[] = []) => ({ type: "tool-call", id, children });
    const message = (...parts: unknown[]) => ({ content: { parts } }) as unknown as Message;
    const deep = message({ type: "text" }, call("a", [message(call("b", [message(call("c"))]))]));
    expect(holds(deep, "a")).toBe(true);
    expect(holds(deep, "c")).toBe(true);
    expect(holds(deep, "d")).toBe(false);
  });
});
