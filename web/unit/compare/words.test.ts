import { describe, expect, it } from "vitest";
import type { PartDiff, Piece } from "../../src/api/runs";
import { rowsOf, summary } from "../../src/compare/rows";
import { change, fact, piecesOfPart } from "../../src/compare/shown";
import { asShown, ignoringBlanks, piecesOf } from "../../src/compare/words";

const pieces = (...told: readonly [Piece["mark"], string][]): Piece[] =>
  told.map(([mark, text]) => ({ mark, text }));
const text = (words: readonly Piece[]) => words.map((piece) => piece.text).join("");

describe("pieces of two texts", () => {
  const words = pieces(["=", "It is "], ["-", "sunny"], ["+", "cloudy"], ["=", " today"]);

  it("give each text back", () => {
    expect(text(piecesOf("a", words))).toBe("It is sunny today");
    expect(text(piecesOf("b", words))).toBe("It is cloudy today");
  });

  it.each([
    ["other blanks", pieces(["-", "a  b"], ["+", "a b"]), pieces(["=", "a b"])],
    ["a blank more", pieces(["=", "a"], ["+", "\n\n"], ["=", "b"]), pieces(["=", "a\n\nb"])],
    ["a blank less", pieces(["=", "a"], ["-", "\n"], ["=", "b"]), pieces(["=", "ab"])],
    ["other words", words, words],
    ["a word gone", pieces(["-", "so "], ["=", "it"]), pieces(["-", "so "], ["=", "it"])],
  ])("without blanks: %s", (_, told, shown) => {
    expect(ignoringBlanks(told)).toEqual(shown);
  });

  it("make a part the same when nothing else differs", () => {
    const blanks: PartDiff = {
      kind: "changed",
      label: "text",
      words: pieces(["-", " a"], ["+", "a"]),
      differences: [],
    };
    expect(asShown(blanks, true).kind).toBe("same");
    expect(asShown(blanks, false)).toBe(blanks);
    expect(asShown({ ...blanks, differences: [{ path: "$.input", old: 1 }] }, true).kind).toBe("changed");
  });
});

describe("parts of two runs", () => {
  const parts: PartDiff[] = (["same", "same", "changed", "same", "removed", "added"] as const).map(
    (kind) => ({
      kind,
      label: "text",
    }),
  );

  it("stand alone where they differ, and are put together where not", () => {
    expect(
      rowsOf(parts).map((row) => (row.kind === "same" ? row.parts.length : `#${row.difference.number}`)),
    ).toEqual([2, "#0", 1, "#1", "#2"]);
    expect(summary(parts)).toBe("1 changed, 1 only in A, 1 only in B, 3 the same");
  });

  it("are told piece by piece, and no trick is played with them", () => {
    expect(piecesOfPart({ type: "text", text: "a\u202eb" })).toEqual([{ name: "", text: "a⟦U+202E⟧b" }]);
    expect(
      piecesOfPart({
        type: "tool-call",
        name: "oven",
        input: { hot: true },
        output: { type: "text", value: "done" },
      }),
    ).toEqual([
      { name: "input", text: '{\n  "hot": true\n}' },
      { name: "output (text)", text: "done" },
    ]);
    expect(piecesOfPart({ type: "source-url", url: "https://example.org" })[0]?.text).toContain(
      "example.org",
    );
  });
});

describe("facts", () => {
  it.each([
    ["messages", 4, 3, "4", "−1"],
    ["output tokens", 1200, 1500, "1,200", "+300 (+25 %)"],
    ["output tokens", 1, 12, "1", "+11"],
    ["cost", 0.5, 0.25, "$0.50", "−$0.25 (−50 %)"],
    ["seconds", 2, 2.1, "2.0 s", "+100 ms (+5.0 %)"],
    ["model", "a", "b", "a", ""],
    ["cost", null, 1, "none", ""],
  ])("%s from %s to %s", (name, a, b, shown, differs) => {
    expect(fact(name, a)).toBe(shown);
    expect(change(name, a, b)).toBe(differs);
  });
});
