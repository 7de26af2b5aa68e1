/** A text as its top-level blocks, kept from one moment of a stream to the next. */
import { type Links, outline } from "./rules";

export interface Blocks {
  readonly text: string;
  /** The source of each block. Joined they are the text. */
  readonly sources: readonly string[];
  readonly links: Links;
}

export const NO_BLOCKS: Blocks = { text: "", sources: [], links: {} };

/**
 * How many blocks at the end may still change: the last one grows, and what stands before it may turn out to go on
 * (a fence that is none yet, a line of a table to come).
 */
const UNSETTLED = 2;

/** The blocks of `text`; of what was there before, only the end is read again. */
export function splitBlocks(text: string, before: Blocks = NO_BLOCKS): Blocks {
  if (text === before.text) return before;
  const settled = text.startsWith(before.text) ? settledOf(before) : [];
  const start = settled.reduce((length, source) => length + source.length, 0);
  const { tokens, links } = outline(text.slice(start));
  const sources = [...settled, ...tokens.map((token) => token.raw)];
  return { text, sources, links: start === 0 ? links : merged(before.links, links) };
}

/** The blocks that stay as they are, whatever comes. */
function settledOf({ sources }: Blocks): readonly string[] {
  let left = UNSETTLED;
  let end = sources.length;
  while (end > 0 && left > 0) {
    end -= 1;
    if (sources[end]?.trim()) left -= 1;
  }
  return sources.slice(0, end);
}

/** The same object unless something is new, so that nothing is drawn again for it. */
function merged(old: Links, more: Links): Links {
  return Object.keys(more).every((name) => old[name]?.href === more[name]?.href)
    ? old
    : Object.assign(Object.create(null), more, old);
}

/** A last line that may yet be a rule, a heading's underline or a fence is held back: it would jump. */
export function steady(text: string): string {
  return text.replace(/\n {0,3}(?:[-=*_~`]{1,2}|[-=]+|\|)[ \t]*$/, "\n");
}
