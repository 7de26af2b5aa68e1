/** Fuzzy matching of what the user types with names: where it matches, and how well. */

export interface Match {
  /** Higher is better. */
  readonly score: number;
  /** Start and end of each match, in code points. */
  readonly highlights: readonly (readonly [number, number])[];
}

/** The scores of one word of the query, by how it occurs in a text. */
const PREFIX = 100;
const WORD_START = 80;
const INSIDE = 50;
const INITIALS = 45;
const SCATTERED = 20;
/** A letter for every so many of a text: more scattered letters are no match. */
const MAX_SPREAD = 3;

/** How a query matches a text; null if a word of the query does not. Case and accents are ignored. */
export function match(query: string, text: string): Match | null {
  const words = query.split(/\s+/).filter(Boolean).map(fold);
  const letters = fold(text);
  let score = 0;
  const places = new Set<number>();
  for (const word of words) {
    const found = find(word, letters);
    if (!found) return null;
    score += found.score;
    for (const place of found.places) places.add(place);
  }
  // Of two equal matches, the one in the shorter text is more likely meant.
  return {
    score: words.length ? score / words.length - letters.length / 100 : 0,
    highlights: rangesOf(places),
  };
}

/** The letters of a text, one per code point, without case and accents. */
const fold = (text: string): readonly string[] =>
  Array.from(text, (one) => one.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase() || one);

interface Found {
  readonly score: number;
  readonly places: readonly number[];
}

function find(word: readonly string[], letters: readonly string[]): Found | null {
  return findWhole(word, letters) ?? findInitials(word, letters) ?? findScattered(word, letters);
}

/** The best place where a word occurs as a whole: at the start, at the start of a word, inside. */
function findWhole(word: readonly string[], letters: readonly string[]): Found | null {
  let best: Found | null = null;
  for (let start = 0; start + word.length <= letters.length; start++) {
    if (!word.every((letter, index) => letters[start + index] === letter)) continue;
    const score = start === 0 ? PREFIX : isWordStart(letters, start) ? WORD_START : INSIDE;
    if (best === null || score > best.score) best = { score, places: word.map((_, index) => start + index) };
  }
  return best;
}

/** The first letters of words that follow each other: `nq` in `Next question`. */
function findInitials(word: readonly string[], letters: readonly string[]): Found | null {
  const starts = letters.flatMap((_, index) => (isWordStart(letters, index) ? [index] : []));
  for (let first = 0; first + word.length <= starts.length; first++) {
    const places = starts.slice(first, first + word.length);
    if (places.every((place, index) => letters[place] === word[index])) return { score: INITIALS, places };
  }
  return null;
}

/** The letters in order, close to each other. */
function findScattered(word: readonly string[], letters: readonly string[]): Found | null {
  let best: readonly number[] | null = null;
  for (let start = 0; start < letters.length; start++) {
    if (letters[start] !== word[0]) continue;
    const rest = letters.map((_, index) => index).slice(start);
    const places = inOrder(word, letters, rest);
    if (!places) break;
    if (best === null || spread(places) < spread(best)) best = places;
  }
  if (!best || word.length < 2 || spread(best) > word.length * MAX_SPREAD) return null;
  return { score: SCATTERED - spread(best) / word.length, places: best };
}

const spread = (places: readonly number[]): number => (places.at(-1) ?? 0) - (places[0] ?? 0) + 1;

/** The first of the given places where the letters of a word are, in order. */
function inOrder(
  word: readonly string[],
  letters: readonly string[],
  places: readonly number[],
): readonly number[] | null {
  const found: number[] = [];
  for (const place of places) {
    if (found.length === word.length) break;
    if (letters[place] === word[found.length]) found.push(place);
  }
  return found.length === word.length ? found : null;
}

const LETTER = /[\p{L}\p{N}]/u;

const isWordStart = (letters: readonly string[], at: number): boolean =>
  LETTER.test(letters[at] ?? "") && !LETTER.test(letters[at - 1] ?? "");

function rangesOf(places: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === place) last[1] = place + 1;
    else ranges.push([place, place + 1]);
  }
  return ranges;
}
