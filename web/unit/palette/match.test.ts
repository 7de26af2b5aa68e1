import { describe, expect, it } from "vitest";
import { match } from "../../src/palette/match";

const score = (query: string, text: string) => match(query, text)?.score ?? Number.NEGATIVE_INFINITY;

describe("match", () => {
  it.each([
    ["a prefix", "lamp", "Lamp range", "The lamp"],
    ["the start of a word", "ran", "Lamp range", "Oranges"],
    ["a part of a word", "amp", "Lamp", "All may pass"],
    ["initials", "nq", "Next question", "Open a quarrel"],
    ["the shorter text", "new", "New chat", "New chat with an agent that answers"],
  ])("prefers %s", (_, query, better, worse) => {
    expect(score(query, better)).toBeGreaterThan(score(query, worse));
  });

  it("marks the letters that match, in code points", () => {
    expect(match("ra la", "🗼 Lamp range")?.highlights).toEqual([
      [2, 4],
      [7, 9],
    ]);
    expect(match("nq", "Next question")?.highlights).toEqual([
      [0, 1],
      [5, 6],
    ]);
  });

  it("ignores case and accents", () => {
    expect(match("VARDO", "In Vardö")?.highlights).toEqual([[3, 8]]);
  });

  it("needs every word, and letters that are close to each other", () => {
    expect(match("lamp missing", "Lamp range")).toBeNull();
    expect(match("lge", "Lamp in a house where nobody has gone since the edge")).toBeNull();
    expect(match("x", "Lamp")).toBeNull();
  });

  it("matches everything without a query", () => {
    expect(match(" ", "Lamp")).toEqual({ score: 0, highlights: [] });
  });
});
