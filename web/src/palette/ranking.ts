/** The entries of the command palette, ranked by what the user types. */
import { type Match, match } from "./match";

export type Section = "Sessions" | "Contents" | "Searches" | "Commands" | "Settings" | "Search";

export interface Entry {
  /** Unique among all entries. */
  readonly id: string;
  readonly section: Section;
  readonly name: string;
  /** Other words by which it is found, such as the project of a session. */
  readonly also?: string;
  /** When it was last used, in milliseconds: newer ones rank higher. */
  readonly time?: number;
}

export interface Ranked<T extends Entry> {
  readonly entry: T;
  readonly highlights: Match["highlights"];
}

export interface Group<T extends Entry> {
  readonly section: Section;
  readonly items: readonly Ranked<T>[];
}

/** How many entries of a section are shown. */
export const LIMITS: Readonly<Record<Section, number>> = {
  Sessions: 8,
  Contents: 8,
  Searches: 4,
  Commands: 8,
  Settings: 6,
  Search: 1,
};
/** How many sessions are shown while nothing is typed. */
const RECENT = 6;
const WEEK = 7 * 24 * 3600 * 1000;
/** What a match in the other words costs, and what an entry that was used just now gains. */
const ALSO_COST = 40;
const RECENT_GAIN = 15;

/** The best entries in sections, the section with the best match first. Without a query: all commands and settings. */
export function rank<T extends Entry>(
  query: string,
  entries: readonly T[],
  now: number = Date.now(),
): readonly Group<T>[] {
  const scored = entries.flatMap((entry) => {
    const found = scoreOf(query, entry, now);
    return found ? [{ ...found, entry }] : [];
  });
  const sections = [...new Set(entries.map(({ section }) => section))];
  const isEmpty = query.trim() === "";
  return sections
    .map((section) => {
      const all = scored.filter(({ entry }) => entry.section === section);
      if (!isEmpty) all.sort((a, b) => b.score - a.score);
      const limit = isEmpty ? (section === "Sessions" ? RECENT : all.length) : LIMITS[section];
      return {
        section,
        best: all[0]?.score ?? 0,
        items: all.slice(0, limit).map(({ entry, highlights }) => ({ entry, highlights })),
      };
    })
    .filter(({ items }) => items.length > 0)
    .sort((a, b) => (isEmpty ? 0 : b.best - a.best));
}

function scoreOf(query: string, { name, also, time }: Entry, now: number): Match | null {
  const found = match(query, name) ?? withOtherWords(query, name, also);
  if (!found) return null;
  const gain = time === undefined ? 0 : RECENT_GAIN / (1 + Math.max(0, now - time) / WEEK);
  return { ...found, score: found.score + gain };
}

function withOtherWords(query: string, name: string, also: string | undefined): Match | null {
  const found = also === undefined ? null : match(query, `${name} ${also}`);
  if (!found) return null;
  const { length } = Array.from(name);
  const highlights = found.highlights.filter(([, end]) => end <= length);
  return { score: found.score - ALSO_COST, highlights };
}
