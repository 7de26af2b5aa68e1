// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { OutlineRow } from "../../src/api/messages";
import { type Entry, entriesOf } from "../../src/conversation/entries";
import type { FilterKind } from "../../src/conversation/filter";
import type { Row } from "../../src/conversation/rows";
import type { Detail } from "../../src/ui/preferences";
import { outlineRow } from "./outlineRow";

const row = (id: string, more: Partial<OutlineRow>): Row => {
  const stored = outlineRow(id, more);
  return { id, role: stored.role, type: stored.type, internal: stored.internal, stored };
};
const question = (id: string) => row(id, { role: "user" });
const text = (id: string) => row(id, { role: "assistant" });
const calls = (id: string, count: number, more: Partial<OutlineRow> = {}) =>
  row(id, { role: "assistant", type: "tool", calls: { command: count }, end: 0, ...more });
/** Reasoning, a text, and calls after it. */
const mixed = (id: string, count: number) =>
  row(id, { role: "assistant", type: "tool", reasoning: true, calls: { edit: count }, start: 1, end: 2 });
const event = (id: string) => row(id, { role: "user", type: "event" });

interface Options {
  readonly detail?: Detail;
  readonly filter?: readonly FilterKind[];
  readonly open?: readonly string[];
  readonly isRunning?: boolean;
  readonly keepsLast?: boolean;
}

const entries = (rows: readonly Row[], { detail = "normal", filter, open, ...rest }: Options = {}) =>
  entriesOf({
    rows,
    detail,
    filter: new Set(filter),
    isOpen: (key) => open?.includes(key) ?? false,
    isRunning: rest.isRunning ?? false,
    keepsLast: rest.keepsLast ?? false,
  });

/** `q1`, `a1[1-2]` for some of its parts, `(3: a1 a2)` for a group of three calls. */
const brief = (entry: Entry): string => {
  if (entry.kind === "group") {
    const count = Object.values(entry.totals.counts).reduce((sum, one) => sum + one, 0);
    return `(${count}: ${[...new Set(entry.slices.map((one) => one.row.id))].join(" ")})`;
  }
  const { id } = entry.row;
  return entry.shown ? `${id}[${entry.shown.from}-${entry.shown.to ?? ""}]` : id;
};

describe("the entries of a list", () => {
  const rows = [
    question("q1"),
    calls("a1", 2),
    calls("a2", 1),
    mixed("a3", 2),
    calls("a4", 2, { failed: 1 }),
    event("e1"),
    text("a5"),
    question("q2"),
    calls("b1", 1),
    text("b2"),
  ];

  it.each([
    [
      "folds the calls between texts, also those around a text",
      {},
      "q1 (3: a1 a2 a3) a3[1-2] (4: a3 a4) e1 a5 q2 b1 b2",
    ],
    ["shows everything", { detail: "everything" }, "q1 a1 a2 a3 a4 e1 a5 q2 b1 b2"],
    ["shows questions and final responses", { detail: "focused" }, "q1 (7: a1 a2 a3 a4 e1) a5 q2 (1: b1) b2"],
    [
      "shows the calls of an open group below its line, without the head of their messages",
      { open: ["group a3 2"] },
      "q1 (3: a1 a2 a3) a3[1-2] (4: a3 a4) a3[2-] a4[0-] e1 a5 q2 b1 b2",
    ],
    ["filters by kind", { filter: ["edits", "questions"] }, "q1[0-] a3[0-] q2[0-]"],
    ["filters errors", { filter: ["errors"] }, "a4[0-]"],
  ] as const)("%s", (_, options, expected) => {
    expect(entries(rows, options).map(brief).join(" ")).toBe(expected);
  });

  it("know which messages continue one of the same agent in their turn", () => {
    const all = entries([question("q1"), text("a1"), calls("a2", 3), text("a3"), question("q2"), text("a4")]);
    const continuing = all.filter((one) => one.kind === "message" && one.continues).map(brief);
    expect(continuing).toEqual(["a3"]);
    const everything = entries([question("q1"), text("a1"), text("a3")], { detail: "everything" });
    expect(everything.some((one) => one.kind === "message" && one.continues)).toBe(false);
  });

  it("folds two calls only if they are in two messages", () => {
    expect(entries([question("q1"), calls("a1", 2)]).map(brief)).toEqual(["q1", "a1"]);
    expect(entries([question("q1"), calls("a1", 1), calls("a2", 1)]).map(brief)).toEqual([
      "q1",
      "(2: a1 a2)",
    ]);
  });

  it("counts what failed in a group", () => {
    expect(entries(rows).flatMap((one) => (one.kind === "group" ? [one.totals.failed] : []))).toEqual([0, 1]);
  });

  it("shows the newest call of a group that is running", () => {
    const running = [question("q1"), calls("a1", 2), calls("a2", 2)];
    expect(entries(running, { isRunning: true }).map(brief)).toEqual(["q1", "(4: a1 a2)", "a2[0-]"]);
    expect(entries(running).map(brief)).toEqual(["q1", "(4: a1 a2)"]);
  });

  it("does not fold the last message of a chat, which may have buttons", () => {
    const chat = [question("q1"), calls("a1", 3), calls("a2", 4)];
    expect(entries(chat, { keepsLast: true }).map(brief)).toEqual(["q1", "(3: a1)", "a2"]);
  });

  it("has a head at each question", () => {
    const heads = entries(rows).flatMap((one) =>
      one.kind === "message" && one.turn ? [one.turn.number] : [],
    );
    expect(heads).toEqual([1, 2]);
  });

  it("has every part of every message exactly once when all groups are open", () => {
    const open = entriesOf({
      rows,
      detail: "normal",
      filter: new Set(),
      isOpen: () => true,
      isRunning: false,
      keepsLast: false,
    });
    const parts = open.flatMap((one) =>
      one.kind === "message" ? [`${one.row.id} ${one.slice.from}-${one.slice.to ?? ""}`] : [],
    );
    expect(new Set(parts).size).toBe(parts.length);
    expect(parts.filter((one) => one.startsWith("a3"))).toEqual(["a3 0-1", "a3 1-2", "a3 2-"]);
    expect(new Set(open.map((one) => one.key)).size).toBe(open.length);
  });
});
