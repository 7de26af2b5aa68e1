/** Operations on the word diff of two texts. */
import type { PartDiff, Piece } from "../api/runs";

const withoutWhitespace = (text: string): string => text.replace(/\s+/g, "");

/** The pieces of one side. */
export const piecesOf = (side: "a" | "b", words: readonly Piece[]): readonly Piece[] =>
  words.filter((piece) => piece.mark !== (side === "a" ? "+" : "-"));

/** Treats pieces that differ only in whitespace as equal, with the whitespace of the second text. */
export function ignoreWhitespace(words: readonly Piece[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const piece = words[index] as Piece;
    const next = words[index + 1];
    if (piece.mark === "-" && next?.mark === "+") {
      if (withoutWhitespace(piece.text) === withoutWhitespace(next.text))
        pieces.push({ mark: "=", text: next.text });
      else pieces.push(piece, next);
      index += 1;
    } else if (piece.mark !== "=" && withoutWhitespace(piece.text) === "") {
      if (piece.mark === "+") pieces.push({ mark: "=", text: piece.text });
    } else pieces.push(piece);
  }
  return joined(pieces);
}

/** The text of one side. */
export const textOf = (side: "a" | "b", words: readonly Piece[]): string =>
  piecesOf(side, words)
    .map((piece) => piece.text)
    .join("");

/** The part of the longer text that is common to similar texts. */
const MIN_COMMON = 0.4;

/** Whether two texts have so much in common that their words should be compared. */
export function areSimilar(words: readonly Piece[]): boolean {
  const lengthOf = (mark: Piece["mark"]) =>
    words.reduce((sum, piece) => sum + (piece.mark === mark ? withoutWhitespace(piece.text).length : 0), 0);
  const common = lengthOf("=");
  return common >= MIN_COMMON * (common + Math.max(lengthOf("-"), lengthOf("+")));
}

function joined(pieces: readonly Piece[]): readonly Piece[] {
  const found: Piece[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (last && last.mark === piece.mark) found[found.length - 1] = { ...last, text: last.text + piece.text };
    else found.push(piece);
  }
  return found;
}

/** A part without the differences in whitespace. */
export function partIgnoringWhitespace(part: PartDiff): PartDiff {
  if (part.kind !== "changed" || !part.words?.length) return part;
  const words = ignoreWhitespace(part.words);
  const same = words.every((piece) => piece.mark === "=") && !part.differences?.length;
  return { ...part, words, kind: same ? "same" : "changed" };
}
