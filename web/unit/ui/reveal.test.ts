import { describe, expect, it } from "vitest";
import { findItem, revealText } from "../../src/ui/reveal";

const pattern = /lamp/g;

describe("content that hides text", () => {
  it("finds the item of a list with an occurrence", () => {
    const texts = ["a lamp", "", "lamp, lamp", "a boat"];
    expect([0, 1, 2, 3].map((number) => findItem(texts, { pattern, number }))).toEqual([
      { item: 0, at: 0 },
      { item: 2, at: 0 },
      { item: 2, at: 1 },
      3,
    ]);
  });

  it("shows more of a text only for an occurrence that is hidden", () => {
    const shown: number[] = [];
    const ask = (number: number) =>
      revealText("lamp, lamp", 6, { pattern, number }, (end) => shown.push(end));
    expect([0, 1, 2].map(ask)).toEqual([{ type: "shown" }, { type: "shown" }, { type: "missing", total: 2 }]);
    expect(shown).toEqual([10]);
  });
});
