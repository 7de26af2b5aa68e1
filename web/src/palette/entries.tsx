/** The entries of the command palette. */
import { Bookmark, ChevronRight, Search, SlidersHorizontal } from "lucide-react";
import type { ReactNode } from "react";
import type { ThreadSummary } from "../api/threads";
import { AgentMark, agentName } from "../ui/AgentMark";
import { activeCommands, GROUPS } from "../ui/commands";
import { ago } from "../ui/format";
import { preferences, SETTINGS, setSetting } from "../ui/preferences";
import { go, toThread } from "../ui/routing";
import { savedSearches } from "../ui/savedSearches";
import { openSearch, searchSessions, toSearch } from "../ui/sessionSearch";
import type { Entry } from "./ranking";

export interface PaletteEntry extends Entry {
  readonly icon: ReactNode;
  /** What is shown beside the name. */
  readonly detail?: string;
  /** When it was last used, at the end of the row. */
  readonly when?: string;
  readonly keys?: string;
  /** The setting that is chosen now. */
  readonly isChosen?: boolean;
  /** The address that it opens. */
  readonly href?: string;
  readonly run: () => void;
}

/** The commands that are active now, in the groups of the list of shortcuts. */
export function commandEntries(): readonly PaletteEntry[] {
  const all = activeCommands().filter((one) => !one.keysOnly);
  return GROUPS.flatMap((group) =>
    all
      .filter((one) => one.group === group)
      .map(({ what, keys, run }, index) => ({
        id: `command-${group}-${index}`,
        section: "Commands" as const,
        name: what,
        also: group,
        detail: group,
        keys,
        icon: <ChevronRight size={15} />,
        run: () => run(),
      })),
  );
}

/** A choice of a setting for each entry: `Theme: Dark`. */
export function settingEntries(): readonly PaletteEntry[] {
  const now = preferences();
  return SETTINGS.flatMap(({ name, label, choices }) =>
    choices.map((choice) => ({
      id: `setting-${name}-${choice.value}`,
      section: "Settings" as const,
      name: `${label}: ${choice.label}`,
      also: "settings preferences appearance",
      icon: <SlidersHorizontal size={15} />,
      isChosen: now[name] === choice.value,
      run: () => setSetting(name, choice.value),
    })),
  );
}

/** The entry of a session. With words that its messages contain, it opens at the first of them. */
export function sessionEntry(row: ThreadSummary, now: number, words?: string): PaletteEntry {
  const { id, agent, updatedAt, project } = row.thread;
  const repository = (row.repository ?? project)?.split(/[\\/]/).filter(Boolean).at(-1);
  const to = toThread(id, null, null, isIn(row.title, words) ? null : words);
  return {
    id: `session-${id}`,
    section: "Sessions",
    name: row.title || "Untitled",
    also: [agentName(agent), repository].filter(Boolean).join(" "),
    detail: repository,
    when: updatedAt ? ago(updatedAt, now) : undefined,
    time: updatedAt ? Date.parse(updatedAt) : 0,
    icon: <AgentMark agent={agent} />,
    href: to,
    run: () => go(to),
  };
}

export const savedSearchEntries = (): readonly PaletteEntry[] =>
  savedSearches().map((saved) => ({
    id: `saved-${saved.name}`,
    section: "Searches" as const,
    name: saved.name,
    also: "saved search",
    detail: saved.text,
    icon: <Bookmark size={15} />,
    href: toSearch(saved),
    run: () => openSearch(saved),
  }));

const isIn = (title: string | undefined | null, words = ""): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title?.toLowerCase().includes(word));

/** The search for a text in all sessions. */
export const searchEntry = (text: string): PaletteEntry => ({
  id: "search",
  section: "Search",
  name: `Search for “${text}” in all sessions`,
  icon: <Search size={15} />,
  href: toSearch({ text, filters: "" }),
  run: () => searchSessions(text),
});
