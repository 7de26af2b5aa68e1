// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { overlay } from "../../src/chat/live";
import type { Message } from "../../src/partita.gen";

const said = (id: string, text: string, role: "user" | "assistant" = "user"): Message =>
  ({ id, role, type: "text", content: { format: 2, parts: [{ type: "text", text }] } }) as Message;

const stored = [
  said("u1", "one"),
  said("a1", "eins", "assistant"),
  said("u2", "two"),
  said("a2", "zwei", "assistant"),
];

const ids = (messages: readonly Message[]) => messages.map((one) => one.id);

describe("live messages over stored ones", () => {
  it.each([
    ["nothing is live", [], undefined, ["u1", "a1", "u2", "a2"]],
    [
      "new ones stand at the end",
      [said("u3", "three"), said("a3", "drei", "assistant")],
      undefined,
      ["u1", "a1", "u2", "a2", "u3", "a3"],
    ],
    [
      "one that goes on stays in its place",
      [said("a2", "zwei und", "assistant")],
      undefined,
      ["u1", "a1", "u2", "a2"],
    ],
    [
      "an edit hides what came after",
      [said("u2", "other"), said("a3", "drei", "assistant")],
      "a1",
      ["u1", "a1", "u2", "a3"],
    ],
    [
      "an edit of the first hides all",
      [said("u1", "other"), said("a3", "drei", "assistant")],
      null,
      ["u1", "a3"],
    ],
    ["another answer takes the place of one", [said("a3", "drei", "assistant")], "u1", ["u1", "a3"]],
    ["what is not there cuts nothing", [said("u3", "three")], "gone", ["u1", "a1", "u2", "a2", "u3"]],
  ] as const)("%s", (_name, messages, after, expected) => {
    const shown = overlay(stored, { messages, after });
    expect(ids(shown)).toEqual(expected);
    for (const one of messages) expect(shown).toContain(one);
  });

  it("keeps the very same list when nothing is live", () => {
    expect(overlay(stored, { messages: [] })).toBe(stored);
  });
});
