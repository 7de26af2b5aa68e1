/** Splits a text into top-level blocks. While a text is streaming, finished blocks are reused. */
import { type Links, outline } from "./grammar";

export interface Blocks {
  readonly text: string;
  /** The source of each block. Joined, they equal the text. */
  readonly sources: readonly string[];
  readonly links: Links;
}

export const NO_BLOCKS: Blocks = { text: "", sources: [], links: {} };

/**
 * Blocks at the end that may still change: the last one grows, and the one before it may turn out to continue (an
 * incomplete fence, the next line of a table).
 */
const UNSETTLED = 2;

/** The blocks of `text`. If the text has grown, only its end is parsed again. */
export function splitBlocks(text: string, before: Blocks = NO_BLOCKS): Blocks {
  if (text === before.text) return before;
  const settled = text.startsWith(before.text) ? settledOf(before) : [];
  const start = settled.reduce((length, source) => length + source.length, 0);
  const { tokens, links } = outline(text.slice(start));
  const sources = [...settled, ...tokens.map((token) => token.raw)];
  return { text, sources, links: start === 0 ? links : merged(before.links, links) };
}

/** The blocks that cannot change any more. */
function settledOf({ sources }: Blocks): readonly string[] {
  let left = UNSETTLED;
  let end = sources.length;
  while (end > 0 && left > 0) {
    end -= 1;
    if (sources[end]?.trim()) left -= 1;
  }
  return sources.slice(0, end);
}

/** Returns the same object if nothing is new, so that blocks do not render again. */
function merged(old: Links, more: Links): Links {
  return Object.keys(more).every((name) => old[name]?.href === more[name]?.href)
    ? old
    : Object.assign(Object.create(null), more, old);
}

/** Removes a last line that may become a rule, a heading underline or a fence: it would flicker. */
export function withoutAmbiguousEnd(text: string): string {
  return text.replace(/\n {0,3}(?:[-=*_~`]{1,2}|[-=]+|\|)[ \t]*$/, "\n");
}
