// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { mergeLive } from "../../src/chat/live";
import type { Message } from "../../src/partita.gen";

const message = (id: string, text: string, role: "user" | "assistant" = "user"): Message =>
  ({ id, role, type: "text", content: { format: 2, parts: [{ type: "text", text }] } }) as Message;

const stored = [
  message("u1", "one"),
  message("a1", "eins", "assistant"),
  message("u2", "two"),
  message("a2", "zwei", "assistant"),
];

const ids = (messages: readonly Message[]) => messages.map((one) => one.id);

describe("the merged list of stored and live messages", () => {
  it.each([
    ["contains the stored messages if none are live", [], undefined, ["u1", "a1", "u2", "a2"]],
    [
      "ends with new live messages",
      [message("u3", "three"), message("a3", "drei", "assistant")],
      undefined,
      ["u1", "a1", "u2", "a2", "u3", "a3"],
    ],
    [
      "contains a live message in place of the stored one",
      [message("a2", "zwei und", "assistant")],
      undefined,
      ["u1", "a1", "u2", "a2"],
    ],
    [
      "hides the messages after an edited message",
      [message("u2", "other"), message("a3", "drei", "assistant")],
      "a1",
      ["u1", "a1", "u2", "a3"],
    ],
    [
      "hides all messages after an edit of the first one",
      [message("u1", "other"), message("a3", "drei", "assistant")],
      null,
      ["u1", "a3"],
    ],
    ["replaces a regenerated response", [message("a3", "drei", "assistant")], "u1", ["u1", "a3"]],
    [
      "contains all stored messages if `after` is unknown",
      [message("u3", "three")],
      "gone",
      ["u1", "a1", "u2", "a2", "u3"],
    ],
  ] as const)("%s", (_name, messages, after, expected) => {
    const shown = mergeLive(stored, { messages, after });
    expect(ids(shown)).toEqual(expected);
    for (const one of messages) expect(shown).toContain(one);
  });

  it("is the same list if no messages are live", () => {
    expect(mergeLive(stored, { messages: [] })).toBe(stored);
  });
});
