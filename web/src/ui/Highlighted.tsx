import { visible } from "./sanitize";

export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Splits a text at its highlights. Highlights count code points, as the server does, not UTF-16 units. */
export function splitHighlights(
  text: string,
  highlights: readonly (readonly [number, number])[],
): readonly Piece[] {
  const points = Array.from(text);
  const pieces: Piece[] = [];
  let end = 0;
  for (const [start, stop] of highlights) {
    const from = Math.max(start, end);
    if (stop <= from) continue;
    if (from > end) pieces.push({ text: points.slice(end, from).join(""), isMatch: false });
    pieces.push({ text: points.slice(from, stop).join(""), isMatch: true });
    end = stop;
  }
  if (end < points.length) pieces.push({ text: points.slice(end).join(""), isMatch: false });
  return pieces;
}

/** A text with marked matches. */
export function Highlighted({
  text,
  highlights,
}: {
  text: string;
  highlights: readonly (readonly [number, number])[];
}) {
  return splitHighlights(text, highlights).map((piece, index) =>
    piece.isMatch ? <mark key={index}>{visible(piece.text)}</mark> : visible(piece.text),
  );
}
