// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { Outline, OutlineRow } from "../../src/api/messages";
import { estimate } from "../../src/conversation/estimate";
import { rowsOf } from "../../src/conversation/rows";
import { outlineRow } from "./outlineRow";

const row = (id: string, role: OutlineRow["role"] = "assistant", size = 100): OutlineRow =>
  outlineRow(id, { role, size });

const outline = (...ids: readonly string[]): Outline => ({
  rows: ids.map((id) => row(id)),
  siblings: {},
  models: [],
  usage: {
    responses: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    unpriced: 0,
  },
  total: ids.length,
  running: false,
  opensAtEnd: true,
  complete: true,
});

const live = (...ids: readonly string[]) => ids.map((id) => ({ id, role: "assistant" as const }));
const stored = (size: number) => ({ role: "user" as const, stored: row("a", "user", size) });
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

describe("the rows", () => {
  it.each([
    ["are the stored messages if none are live", live(), undefined, ["a", "b", "c"]],
    ["end with live messages", live("d", "e"), "c", ["a", "b", "c", "d", "e"]],
    ["contain live messages in place of stored ones", live("b", "c"), "a", ["a", "b", "c"]],
    ["omit stored messages after the start of another branch", live("d"), "a", ["a", "d"]],
    ["are only live messages if the first message was edited", live("d"), null, ["d"]],
    ["contain all stored messages if `after` is unknown", live("d"), undefined, ["a", "b", "c", "d"]],
  ] as const)("%s", (_, now, after, expected) => {
    expect(ids(rowsOf(outline("a", "b", "c"), now, after))).toEqual(expected);
  });

  it("are empty without an outline", () => {
    expect(rowsOf(undefined, [], undefined)).toEqual([]);
  });

  it("are estimated higher for longer messages, up to a limit", () => {
    expect(estimate(stored(5000))).toBeGreaterThan(estimate(stored(100)));
    expect(estimate(stored(1e9))).toBeLessThanOrEqual(1600);
  });
});
