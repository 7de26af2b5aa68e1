import { expect, it } from "vitest";
import { pieces } from "../../src/threads/highlights";

const marked = (text: string, highlights: readonly (readonly [number, number])[]) =>
  pieces(text, highlights)
    .map((piece) => (piece.found ? `[${piece.text}]` : piece.text))
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
])("cuts %s at %o", (text, highlights, expected) => {
  expect(marked(text, highlights)).toBe(expected);
});
