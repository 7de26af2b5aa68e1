/** Finds a pattern in the text of an element as it is displayed, across the elements inside a line. */

const INLINE = /^(?:A|B|BDI|CODE|DEL|EM|I|INS|KBD|MARK|Q|S|SMALL|SPAN|STRONG|SUB|SUP|U|VAR)$/;
/** More ranges in one part would slow down scrolling. */
const MAX_RANGES = 2000;

interface Piece {
  readonly node: Text;
  /** Its position in the text. */
  readonly start: number;
}

interface Collected {
  text: string;
  readonly pieces: Piece[];
}

/** The ranges that match. Text of other parts inside, and text that is only for screen readers, is left out. */
export function textRanges(element: Element, pattern: RegExp): readonly Range[] {
  const collected: Collected = { text: "", pieces: [] };
  collect(element, collected);
  const ranges: Range[] = [];
  for (const match of collected.text.matchAll(pattern)) {
    if (ranges.length === MAX_RANGES) break;
    const from = pieceAt(collected.pieces, match.index);
    const to = pieceAt(collected.pieces, match.index + match[0].length - 1);
    if (!from || !to) continue;
    const range = new Range();
    range.setStart(from.node, Math.min(match.index - from.start, from.node.length));
    range.setEnd(to.node, Math.min(match.index + match[0].length - to.start, to.node.length));
    ranges.push(range);
  }
  return ranges;
}

function collect(element: Element, into: Collected): void {
  for (const child of element.childNodes) {
    if (child instanceof Text) {
      into.pieces.push({ node: child, start: into.text.length });
      into.text += child.data;
    } else if (child instanceof Element && !isLeftOut(child)) {
      // The spans of a button are the columns of a head, not one text.
      const isInline = INLINE.test(child.tagName) && element.tagName !== "BUTTON";
      if (!isInline) into.text += "\n";
      collect(child, into);
      if (!isInline) into.text += "\n";
    }
  }
}

const isLeftOut = (element: Element): boolean =>
  element.hasAttribute("data-place") ||
  element.classList.contains("visually-hidden") ||
  element.getAttribute("aria-hidden") === "true";

/** The last piece that starts at or before a position. */
function pieceAt(pieces: readonly Piece[], position: number): Piece | undefined {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.start ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return pieces[low - 1];
}
