/** A text cut where its highlights begin and end. */

export interface Piece {
  readonly text: string;
  readonly found: boolean;
}

/** Highlights count code points, as the server does; JavaScript counts in halves of some of them. */
export function pieces(text: string, highlights: readonly (readonly [number, number])[]): readonly Piece[] {
  const points = Array.from(text);
  const cut: Piece[] = [];
  let at = 0;
  for (const [begin, end] of highlights) {
    const from = Math.max(begin, at);
    if (end <= from) continue;
    if (from > at) cut.push({ text: points.slice(at, from).join(""), found: false });
    cut.push({ text: points.slice(from, end).join(""), found: true });
    at = end;
  }
  if (at < points.length) cut.push({ text: points.slice(at).join(""), found: false });
  return cut;
}
