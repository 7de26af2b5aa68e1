/** The pieces of two texts: for one side, for a reader who does not mind blanks, and put together. */
import type { PartDiff, Piece } from "../api/runs";

const bare = (text: string): string => text.replace(/\s+/g, "");

/** The pieces that one side has. */
export const piecesOf = (side: "a" | "b", words: readonly Piece[]): readonly Piece[] =>
  words.filter((piece) => piece.mark !== (side === "a" ? "+" : "-"));

/** What differs in blanks alone differs no more; it is shown as the second text has it. */
export function ignoringBlanks(words: readonly Piece[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let place = 0; place < words.length; place += 1) {
    const piece = words[place] as Piece;
    const next = words[place + 1];
    if (piece.mark === "-" && next?.mark === "+") {
      if (bare(piece.text) === bare(next.text)) pieces.push({ mark: "=", text: next.text });
      else pieces.push(piece, next);
      place += 1;
    } else if (piece.mark !== "=" && bare(piece.text) === "") {
      if (piece.mark === "+") pieces.push({ mark: "=", text: piece.text });
    } else pieces.push(piece);
  }
  return joined(pieces);
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

/** A part as it is to be shown: without what differs in blanks alone, if nobody minds them. */
export function asShown(part: PartDiff, ignoreBlanks: boolean): PartDiff {
  if (part.kind !== "changed" || !ignoreBlanks || !part.words?.length) return part;
  const words = ignoringBlanks(part.words);
  const same = words.every((piece) => piece.mark === "=") && !part.differences?.length;
  return { ...part, words, kind: same ? "same" : "changed" };
}
