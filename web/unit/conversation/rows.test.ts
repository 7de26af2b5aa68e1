import { describe, expect, it } from "vitest";
import type { Outline, OutlineRow } from "../../src/api/messages";
import { estimate, rowsOf, step } from "../../src/conversation/rows";

const row = (id: string, role: OutlineRow["role"] = "assistant", size = 100): OutlineRow => ({
  id,
  seq: 1,
  role,
  type: "text",
  createdAt: "2026-03-01T12:00:00Z",
  size,
  version: 1,
});

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
});

const live = (...ids: readonly string[]) => ids.map((id) => ({ id, role: "assistant" as const }));
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

describe("the rows", () => {
  it.each([
    ["are those that are stored", live(), undefined, ["a", "b", "c"]],
    ["go on with what is live", live("d", "e"), "c", ["a", "b", "c", "d", "e"]],
    ["have what is live in its place", live("b", "c"), "a", ["a", "b", "c"]],
    ["end where another branch begins", live("d"), "a", ["a", "d"]],
    ["are live alone where all is said anew", live("d"), null, ["d"]],
    ["keep what is stored when the place is not known", live("d"), undefined, ["a", "b", "c", "d"]],
  ] as const)("%s", (_, now, after, expected) => {
    expect(ids(rowsOf(outline("a", "b", "c"), now, after))).toEqual(expected);
  });

  it("are none before there is an outline", () => {
    expect(rowsOf(undefined, [], undefined)).toEqual([]);
  });

  it("are higher the more there is to say, up to a bound", () => {
    expect(estimate(row("a", "user", 5000))).toBeGreaterThan(estimate(row("a", "user", 100)));
    expect(estimate(row("a", "user", 1e9))).toBeLessThanOrEqual(1600);
  });
});

describe("a walk through the rows", () => {
  const rows = [row("q1", "user"), row("a1"), row("a2"), row("q2", "user")].map((one) => ({
    ...one,
    estimate: 1,
  }));
  const isOfUser = ({ role }: { readonly role: string }) => role === "user";

  it.each([
    [0, 1, undefined, 1],
    [3, 1, undefined, 3],
    [0, -1, undefined, 0],
    [0, 1, isOfUser, 3],
    [2, -1, isOfUser, 0],
    [-1, 1, undefined, 0],
  ] as const)("from %i by %i", (from, by, holds, to) => {
    expect(step(rows, from, by, holds)).toBe(to);
  });
});
