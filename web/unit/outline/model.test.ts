import { describe, expect, it } from "vitest";
import { countsOf, currentIndex, itemsOf, nextStop, stopsOf, turnNodes } from "../../src/outline/model";
import { callAt, overviewOf, turnAt } from "./overview";

const CALLS = [
  callAt("a1", "0", { kind: "command", state: "failed", title: "Shell", subject: "make" }),
  callAt("a1", "1", { kind: "edit", subject: "/app/a.py", added: 2 }),
  callAt("a2", "0", { kind: "agent", subject: "Look around" }),
  callAt("a2", "0.children.0.0", { kind: "edit", subject: "/app/b.py" }),
  callAt("a2", "1", { kind: "command", subject: "git commit" }),
  callAt("a3", "0", { kind: "read" }),
];
const OVERVIEW = overviewOf({
  turns: [turnAt("q1", 5), turnAt("q2", 1), turnAt("elsewhere", 0)],
  calls: CALLS,
  commits: [{ messageId: "a2", part: "1", hash: "0123456789", subject: "Add b", branch: "main", url: null }],
});
const MESSAGES = ["q1", "a1", "a2", "q2", "a3"].map((id) => ({ id, isFailed: id === "a3" }));
const NODES = turnNodes(OVERVIEW, MESSAGES);

describe("the turns of a session", () => {
  it("have their calls, and what happened in them, in order", () => {
    expect(NODES.map(({ turn, row, calls }) => [turn.messageId, row, calls.length])).toEqual([
      ["q1", 0, 5],
      ["q2", 3, 1],
    ]);
    expect(
      NODES.map(({ entries }) =>
        entries.map(({ kind, row, title, subject }) => [kind, row, title || subject]),
      ),
    ).toEqual([
      [
        ["error", 1, "Shell"],
        ["edit", 1, "/app/a.py"],
        ["agent", 2, "Look around"],
        ["edit", 2, "/app/b.py"],
        ["commit", 2, "0123456"],
      ],
      [["error", 4, "Response failed"]],
    ]);
    expect(countsOf(NODES)).toEqual({ all: 2, question: 2, error: 2, edit: 2, agent: 1 });
  });

  it("are listed with their entries if they are expanded, or with those of a filter", () => {
    const keys = (...args: Parameters<typeof itemsOf>) =>
      itemsOf(...args).map((item) => (item.type === "turn" ? item.node.turn.messageId : item.entry.kind));
    expect(keys(NODES, "all", () => false)).toEqual(["q1", "q2"]);
    expect(keys(NODES, "all", ({ number }) => number === 2)).toEqual(["q1", "q2", "error"]);
    expect(keys(NODES, "question", () => true)).toEqual(["q1", "q2"]);
    expect(keys(NODES, "agent", () => false)).toEqual(["q1", "agent"]);
  });

  it("know the line of the message at the top", () => {
    const items = itemsOf(NODES, "all", () => true);
    expect([0, 1, 2, 3, 4, 9].map((row) => currentIndex(items, row))).toEqual([0, 1, 3, 6, 7, 7]);
    expect(currentIndex(items, -1)).toBe(-1);
  });
});

describe("the next stop", () => {
  const edits = stopsOf(NODES, "edit");
  const at = (row: number, part: string | null = null) => ({ row, part });

  it("is after the place that was shown, or in the message at the top", () => {
    expect(nextStop(edits, at(0), 1)).toBe(0);
    expect(nextStop(edits, at(1), 1)).toBe(0);
    expect(nextStop(edits, at(1, "1"), 1)).toBe(1);
    expect(nextStop(edits, at(2, "0"), 1)).toBe(1);
    expect(nextStop(edits, at(2, "1"), -1)).toBe(1);
    expect(nextStop(edits, at(2), -1)).toBe(0);
  });

  it("does not start again at the other end", () => {
    expect(nextStop(edits, at(2, "0.children.0.0"), 1)).toBe(-1);
    expect(nextStop(edits, at(1, "1"), -1)).toBe(-1);
    expect(nextStop([{ messageId: "q2", part: null, row: 3 }], at(3), 1)).toBe(-1);
  });
});
