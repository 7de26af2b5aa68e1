/** The matches of a search in a session, in the order of its messages. */
import type { PartMatches } from "../api/search";

/** The occurrences in a part, and how many there are before it. */
export interface FoundPart extends PartMatches {
  readonly before: number;
}

/** One occurrence: its part, and its number in the part, from 0. */
export interface Occurrence {
  readonly found: FoundPart;
  readonly number: number;
}

export interface Place {
  readonly messageId: string;
  readonly part: string | null;
}

export const placeOf = ({ found }: Occurrence): Place => ({
  messageId: found.messageId,
  part: found.part ?? null,
});

/** The matches in the messages that are shown. `order` is the index of each of them. */
export function inOrder(
  matches: readonly PartMatches[],
  order: ReadonlyMap<string, number>,
): readonly FoundPart[] {
  const shown = matches.filter((one) => order.has(one.messageId));
  const sorted = shown
    .map((one, index) => ({ one, index, row: order.get(one.messageId) ?? 0 }))
    .sort((a, b) => a.row - b.row || a.index - b.index);
  let before = 0;
  return sorted.map(({ one }) => {
    const found = { ...one, before };
    before += one.count;
    return found;
  });
}

/** The number of occurrences. */
export function totalOf(parts: readonly FoundPart[]): number {
  const last = parts.at(-1);
  return last ? last.before + last.count : 0;
}

/** The occurrence with an index over all parts. */
export function occurrenceAt(parts: readonly FoundPart[], index: number): Occurrence | null {
  const found = parts.findLast((one) => one.before <= index);
  return found && index >= 0 && index < found.before + found.count
    ? { found, number: index - found.before }
    : null;
}

/** The index of the first occurrence in a part, or else in its message; -1 if there is none. */
export function indexOfPlace(parts: readonly FoundPart[], { messageId, part }: Place): number {
  const inMessage = parts.filter((one) => one.messageId === messageId);
  return (inMessage.find((one) => one.part === part) ?? inMessage[0])?.before ?? -1;
}

/** The index of the first occurrence in or after a message; after the last one, the first again. */
export function indexFrom(
  parts: readonly FoundPart[],
  order: ReadonlyMap<string, number>,
  messageId: string | null,
): number {
  const from = messageId === null ? 0 : (order.get(messageId) ?? 0);
  return parts.find((one) => (order.get(one.messageId) ?? 0) >= from)?.before ?? 0;
}

/** Letters of scripts without spaces: every character is a word. */
const SPACELESS =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Before and after a word: no letter or digit, or the border of two words in camelCase. */
const START = String.raw`(?:(?<![\p{L}\p{N}])|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}))`;
const END = String.raw`(?:(?![\p{L}\p{N}])|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}))`;
/** Between the words of a phrase. */
const BETWEEN = String.raw`[^\p{L}\p{N}]+`;

/** Finds texts as whole words; null without texts. Their punctuation and spaces may differ from those displayed. */
export function patternOf(texts: readonly string[], flags = ""): RegExp | null {
  const escaped = [...texts]
    .sort((a, b) => b.length - a.length)
    .map((text) => text.split(/[^\p{L}\p{N}\p{M}]+/u).filter(Boolean))
    .filter((words) => words.length > 0)
    .map((words) => ({
      body: words.join(BETWEEN), // words have only letters, digits and marks
      isLoose: SPACELESS.test(words[0] ?? ""),
    }));
  if (!escaped.length) return null;
  const source = escaped.map(({ body, isLoose }) => (isLoose ? body : `${START}${body}${END}`)).join("|");
  return new RegExp(source, `gu${flags}`);
}

/** The words of a query, for a server that does not say which texts it found. */
export const wordsOf = (query: string): readonly string[] =>
  query
    .split(/\s+/)
    .filter((word) => !/^-[^-]/.test(word) && word !== "OR")
    .map((word) => word.replace(/^(?:file|title):/, ""))
    .filter((word) => !/^(?:tool|project|agent|role|in|before|after):/.test(word));
