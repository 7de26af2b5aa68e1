import type { UIMessage, UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import { canonical, lasting, unmarked } from "../../src/chat/split";
import type { AssistantMessage } from "../../src/partita.gen";
import { ChildFold } from "../../src/stream/children";

const text = (words: string) => ({ type: "text" as const, text: words, state: "done" as const });
const mark = (messageId: string) => ({ type: "data-message" as const, id: messageId, data: { messageId } });
const answer = (parts: UIMessage["parts"], metadata?: unknown): UIMessage => ({
  id: "m1",
  role: "assistant",
  parts,
  metadata,
});

const words = (messages: ReturnType<typeof canonical>) =>
  messages.map((one) => [one.id, one.content.parts.map((part) => part.text)]);

describe("a run of several messages, which useChat takes for one", () => {
  it.each([
    ["one message", [text("a"), text("b")], [["m1", ["a", "b"]]]],
    [
      "two",
      [text("a"), mark("m2"), text("b")],
      [
        ["m1", ["a"]],
        ["m2", ["b"]],
      ],
    ],
    [
      "a new one that says nothing yet",
      [text("a"), mark("m2")],
      [
        ["m1", ["a"]],
        ["m2", []],
      ],
    ],
    [
      "three",
      [mark("m2"), text("b"), mark("m3"), text("c")],
      [
        ["m1", []],
        ["m2", ["b"]],
        ["m3", ["c"]],
      ],
    ],
  ] as const)("%s", (_name, parts, expected) => {
    expect(words(canonical(answer([...parts]), new ChildFold(), new Map()))).toEqual(expected);
  });

  it("says of the last one what is said of all", () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    const [first, last] = canonical(
      answer([text("a"), mark("m2"), text("b")], { usage }),
      new ChildFold(),
      new Map(),
    ) as AssistantMessage[];
    expect(first?.content.usage).toBeUndefined();
    expect(last?.content.usage).toEqual(usage);
  });

  it("makes marks stay, and takes them out of what is sent", () => {
    const passing = { type: "data-message", data: { messageId: "m2" }, transient: true } as UIMessageChunk;
    expect(lasting(passing)).toEqual(mark("m2"));
    const delta: UIMessageChunk = { type: "text-delta", id: "1", delta: "x" };
    expect(lasting(delta)).toBe(delta);
    expect(unmarked(answer([text("a"), mark("m2"), text("b")])).parts).toEqual([text("a"), text("b")]);
    const plain = answer([text("a")]);
    expect(unmarked(plain)).toBe(plain);
  });
});
