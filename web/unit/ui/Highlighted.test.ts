import { expect, it } from "vitest";
import { splitHighlights } from "../../src/ui/Highlighted";

const marked = (text: string, highlights: readonly (readonly [number, number])[]) =>
  splitHighlights(text, highlights)
    .map((piece) => (piece.isMatch ? `[${piece.text}]` : piece.text))
    .join("");

it.each<[string, readonly (readonly [number, number])[], string]>([
  ["a lamp", [], "a lamp"],
  ["a lamp", [[2, 6]], "a [lamp]"],
  ["🌫🌫 fog", [[3, 6]], "🌫🌫 [fog]"],
  [
    "one two",
    [
      [0, 3],
      [4, 7],
    ],
    "[one] [two]",
  ],
  [
    "overlaps",
    [
      [0, 4],
      [2, 6],
    ],
    "[over][la]ps",
  ],
  ["short", [[3, 99]], "sho[rt]"],
  ["none", [[2, 2]], "none"],
])("splits %s at the highlights %o", (text, highlights, expected) => {
  expect(marked(text, highlights)).toBe(expected);
});
