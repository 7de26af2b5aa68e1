import { describe, expect, it } from "vitest";
import type { PartDiff, Piece } from "../../src/api/runs";
import { contentsOf, formatChange, formatFact } from "../../src/compare/format";
import { rowsOf, summary } from "../../src/compare/rows";
import { areSimilar, ignoreWhitespace, partIgnoringWhitespace, piecesOf } from "../../src/compare/wordDiff";

const pieces = (...items: readonly [Piece["mark"], string][]): Piece[] =>
  items.map(([mark, text]) => ({ mark, text }));
const text = (words: readonly Piece[]) => words.map((piece) => piece.text).join("");

describe("the word diff of two texts", () => {
  const words = pieces(["=", "It is "], ["-", "sunny"], ["+", "cloudy"], ["=", " today"]);

  it("contains both texts", () => {
    expect(text(piecesOf("a", words))).toBe("It is sunny today");
    expect(text(piecesOf("b", words))).toBe("It is cloudy today");
  });

  it.each([
    ["treats different whitespace as equal", pieces(["-", "a  b"], ["+", "a b"]), pieces(["=", "a b"])],
    [
      "treats added whitespace as equal",
      pieces(["=", "a"], ["+", "\n\n"], ["=", "b"]),
      pieces(["=", "a\n\nb"]),
    ],
    ["treats removed whitespace as equal", pieces(["=", "a"], ["-", "\n"], ["=", "b"]), pieces(["=", "ab"])],
    ["keeps changed words", words, words],
    ["keeps removed words", pieces(["-", "so "], ["=", "it"]), pieces(["-", "so "], ["=", "it"])],
  ])("without whitespace %s", (_, diff, expected) => {
    expect(ignoreWhitespace(diff)).toEqual(expected);
  });

  it("makes a part equal if only whitespace differs", () => {
    const part: PartDiff = {
      kind: "changed",
      label: "text",
      words: pieces(["-", " a"], ["+", "a"]),
      differences: [],
    };
    expect(partIgnoringWhitespace(part).kind).toBe("same");
    const changed = { ...part, differences: [{ path: "$.input", old: 1 }] };
    expect(partIgnoringWhitespace(changed).kind).toBe("changed");
  });
});

describe("parts of two runs", () => {
  const parts: PartDiff[] = (["same", "same", "changed", "same", "removed", "added"] as const).map(
    (kind) => ({
      kind,
      label: "text",
    }),
  );

  it("have a row per difference; consecutive equal parts share a row", () => {
    expect(
      rowsOf(parts).map((row) => (row.kind === "same" ? row.parts.length : `#${row.difference.number}`)),
    ).toEqual([2, "#0", 1, "#1", "#2"]);
    expect(summary(parts)).toBe("1 changed, 1 only in A, 1 only in B, 3 equal");
  });

  it("are formatted by content, with hidden characters visible", () => {
    expect(contentsOf({ type: "text", text: "a\u202eb" })).toEqual([{ name: "", text: "a⟦U+202E⟧b" }]);
    expect(
      contentsOf({
        type: "tool-call",
        name: "oven",
        input: { hot: true },
        output: { type: "text", value: "done" },
      }),
    ).toEqual([
      { name: "input", text: '{\n  "hot": true\n}' },
      { name: "output (text)", text: "done" },
    ]);
    expect(contentsOf({ type: "source-url", url: "https://example.org" })[0]?.text).toContain("example.org");
  });
});

describe("facts", () => {
  it.each([
    ["messages", 4, 3, "4", "−1"],
    ["output tokens", 1200, 1500, "1,200", "+300 (+25%)"],
    ["output tokens", 1, 12, "1", "+11"],
    ["cost", 0.5, 0.25, "$0.50", "−$0.25 (−50%)"],
    ["duration (s)", 2, 2.1, "2 s", "+100 ms (+5.0%)"],
    ["model", "a", "b", "a", ""],
    ["cost", null, 1, "none", ""],
  ])("%s from %s to %s", (name, a, b, shown, differs) => {
    expect(formatFact(name, a)).toBe(shown);
    expect(formatChange(name, a, b)).toBe(differs);
  });
});

it.each([
  [["=", "It is a sunny day in "], ["-", "Oslo"], ["+", "Bergen"], true],
  [["-", "Rework"], ["=", " the "], ["-", "transient prompt"], ["+", "background colours"], false],
  [["-", "one"], ["+", "two"], false],
  [["=", "the same"], true],
] as const)("texts are compared word by word if they are similar: %j", (...given) => {
  const words = given.slice(0, -1) as unknown as [Piece["mark"], string][];
  expect(areSimilar(pieces(...words))).toBe(given.at(-1));
});
