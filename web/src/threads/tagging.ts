/** Tags of sessions: what several have in common, and changes of them. */
import { setTags } from "../api/threads";
import { forEachId } from "./batch";

export interface Tagged {
  readonly id: string;
  readonly tags: readonly string[];
}

export interface TagCount {
  readonly tag: string;
  readonly count: number;
}

/** The tags of some sessions with the number of sessions that have them, by name. */
export function tagCounts(sessions: readonly Tagged[]): readonly TagCount[] {
  const counts = new Map<string, number>();
  for (const { tags } of sessions)
    for (const tag of new Set(tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].map(([tag, count]) => ({ tag, count })).sort((a, b) => a.tag.localeCompare(b.tag));
}

/** Adds or removes a tag. Returns the sessions with their new tags, those that change. */
export function withTag(sessions: readonly Tagged[], tag: string, isAdded: boolean): readonly Tagged[] {
  return sessions
    .filter(({ tags }) => tags.includes(tag) !== isAdded)
    .map(({ id, tags }) => ({ id, tags: isAdded ? [...tags, tag] : tags.filter((one) => one !== tag) }));
}

let stored: Promise<unknown> = Promise.resolve();

/** Stores the tags of sessions, after earlier changes have been stored. */
export function storeTags(sessions: readonly Tagged[]): void {
  const tags = new Map(sessions.map((one) => [one.id, one.tags]));
  const store = () => forEachId([...tags.keys()], "changed", (id) => setTags(id, tags.get(id) ?? []));
  stored = stored.then(store, store);
}

/** A tag as it is stored: without a comma, which separates tags in addresses. */
export const cleanTag = (text: string): string =>
  text
    .replace(/[\s,]+/g, " ")
    .trim()
    .slice(0, 60);
