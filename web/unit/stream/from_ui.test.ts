import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/partita.gen";
import { ChildFold } from "../../src/stream/children";
import { fromUi } from "../../src/stream/from_ui";

const ROOT = join(import.meta.dirname, "..", "..", "..");

const UI = [
  {
    id: "u1",
    role: "user",
    metadata: { from: "page" },
    parts: [
      { type: "text", text: "Look at this" },
      { type: "file", url: "https://example.org/a.png", mediaType: "image/png", filename: "a.png" },
      { type: "tool-odd", toolCallId: "x", state: "input-available" },
    ],
  },
  {
    id: "a1",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "Hm", state: "done" },
      { type: "text", text: "So", state: "streaming", providerMetadata: { p: { n: 1 } } },
      { type: "tool-read", toolCallId: "c1", state: "output-available", input: { a: 1 }, output: "words" },
      { type: "tool-read", toolCallId: "c2", state: "output-error", input: { a: 1 }, errorText: "no" },
      { type: "tool-read", toolCallId: "c3", state: "input-streaming", rawInput: '{"a', input: {} },
      {
        type: "tool-run",
        toolCallId: "c4",
        state: "approval-requested",
        input: null,
        approval: { id: "ap", requestReason: "why" },
      },
      {
        type: "dynamic-tool",
        toolName: "other",
        toolCallId: "c5",
        state: "output-available",
        input: [],
        output: { n: [null] },
        preliminary: true,
        childMessages: [{ id: "k1", role: "assistant", parts: [{ type: "text", text: "below" }] }],
      },
      { type: "data-todo", id: "d1", data: [1, 2] },
      { type: "source-url", sourceId: "s1", url: "https://example.org/", title: "Example" },
      { type: "image", url: "ours alone" },
      {
        type: "dynamic-tool",
        toolName: "agent",
        toolCallId: "a1:network",
        state: "input-available",
        input: { primitiveId: "helper" },
        toolMetadata: { networkExecution: { primitiveType: "agent", primitiveId: "helper" } },
      },
    ],
  },
] as unknown as readonly UIMessage[];

/** What the package makes of UI messages. */
function loaded(messages: readonly UIMessage[]): readonly Message[] {
  const code = `
import sys
from partita.formats.registry import get_format
from partita.types.codec import to_json
from partita.types.json import dumps, loads
load = get_format("ai-sdk-ui-v7").load
print(dumps([to_json(message) for message in load(loads(sys.stdin.read())).messages]).decode())
`;
  const out = execFileSync(join(ROOT, ".venv", "bin", "python"), ["-c", code], {
    cwd: ROOT,
    input: JSON.stringify(messages),
    encoding: "utf8",
  });
  return JSON.parse(out) as readonly Message[];
}

describe("messages as a chat holds them", () => {
  it("become what the package makes of them", () => {
    expect(UI.map((one) => fromUi(one))).toEqual(loaded(UI));
  });

  it("stay the same objects where nothing has changed", () => {
    const [, ui] = UI as readonly [UIMessage, UIMessage];
    const before = fromUi(ui);
    expect(fromUi(structuredClone(ui), undefined, before)).toBe(before);
    const grown = structuredClone(ui);
    (grown.parts[2] as { text: string }).text = "So it grows";
    const after = fromUi(grown, undefined, before);
    expect(after).not.toBe(before);
    expect(after.content.parts[3]).toBe(before.content.parts[3]);
    expect(after.content.parts[2]).toMatchObject({ text: "So it grows" });
  });
});

describe("what a stream carries in metadata", () => {
  it("is told where a stored message has it", () => {
    const child = { id: "k1", role: "assistant", parts: [{ type: "text", text: "below" }] };
    const call = {
      type: "tool-ask",
      toolCallId: "c1",
      state: "output-available",
      input: {},
      output: "yes",
      approval: { id: "ap", approved: true },
      toolMetadata: { kind: "agent", childMessages: [child] },
    };
    const approvals = { ap: { respondedBy: "ada", respondedAt: "2026-03-01T12:00:00Z" } };
    const ui = { id: "a2", role: "assistant", metadata: { model: "m", approvals }, parts: [call] };
    const { content } = fromUi(ui as unknown as UIMessage);
    expect(content.metadata).toEqual({ model: "m" });
    expect(content.parts[0]).toMatchObject({
      approval: { id: "ap", approved: true, ...approvals.ap },
      toolMetadata: { kind: "agent" },
      children: [{ id: "k1" }],
    });
    expect(content.parts[0]).not.toHaveProperty("toolMetadata.childMessages");
  });
});

describe("what sub-agents do", () => {
  const ui = UI[1] as UIMessage;
  const callOf = (message: Message, id: string) =>
    message.content.parts.find((part) => (part as { id?: string }).id === id) as {
      children?: readonly Message[];
    };

  it("stands below its call, to any depth", () => {
    const fold = new ChildFold();
    const say = (path: readonly string[], chunk: unknown) => fold.feed({ path, chunk });
    fold.feed({
      path: ["c1"],
      message: { role: "user", id: "q", type: "text", content: { format: 2, parts: [] } },
    });
    say(["c1"], { type: "start", messageId: "k" });
    say(["c1"], { type: "tool-input-available", toolCallId: "deep", toolName: "run", input: {} });
    say(["c1", "deep"], { type: "text-start", id: "1" });
    say(["c1", "deep"], { type: "text-delta", id: "1", delta: "down here" });
    const [question, answer] = callOf(fromUi(ui, fold), "c1").children ?? [];
    expect(question?.id).toBe("q");
    expect(answer && callOf(answer, "deep").children?.[0]?.content.parts).toEqual([
      { type: "text", text: "down here", state: "streaming" },
    ]);
  });

  it("stands in the network execution of its message", () => {
    const fold = new ChildFold();
    fold.feed({ path: ["a1:network"], chunk: { type: "text-start", id: "1" } });
    const content = fromUi(ui, fold).content as {
      networkExecution?: { finalResult?: { messages?: readonly Message[] } };
    };
    expect(content.networkExecution?.finalResult?.messages).toHaveLength(1);
  });

  it.each([null, 3, {}, { path: [] }, { path: [1], chunk: {} }, { path: ["c1"] }])(
    "is passed over when it is %j",
    (data) => {
      const fold = new ChildFold();
      fold.feed(data);
      expect(fold.messages("c1")).toBeUndefined();
    },
  );
});

describe("the address of a stored file", () => {
  const hash = "ab".repeat(32);
  it.each([
    [`/api/blobs/${hash}`, `blob:sha256:${hash}`],
    [`/assistant/api/blobs/${hash}`, `blob:sha256:${hash}`],
    [`https://elsewhere.example/api/blobs/${hash}`, `https://elsewhere.example/api/blobs/${hash}`],
    ["/api/blobs/short", "/api/blobs/short"],
  ])("%s is read as %s", (url, expected) => {
    const parts = [{ type: "file", url, mediaType: "image/png" }];
    const message = { id: "a1", role: "assistant", parts } as unknown as UIMessage;
    expect(fromUi(message).content.parts).toEqual([{ type: "file", url: expected, mediaType: "image/png" }]);
  });
});
