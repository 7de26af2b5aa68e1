/** The entries of the list, by the level of detail, the filter, and the groups that are open. */
import { useCallback, useContext, useMemo, useState } from "react";
import { FoldAll } from "../ui/Fold";
import { usePreference } from "../ui/preferences";
import { contains, type Entry, entriesOf, messageOf } from "./entries";
import type { Filter } from "./filter";
import type { Row } from "./rows";

interface Options {
  readonly rows: readonly Row[];
  readonly isRunning: boolean;
  readonly keepsLast: boolean;
  readonly filter: Filter;
  readonly clearFilter: () => void;
  /** The place in the address: its group is open at first. */
  readonly target: { readonly message: string; readonly part: string | null } | null;
}

export interface Entries {
  readonly entries: readonly Entry[];
  /** The entry of a message or part, or else the group that contains it; -1 if there is none. */
  readonly indexOf: (messageId: string, part?: string | null) => number;
  /** Opens the group that hides a message or part, and clears a filter that hides it. */
  readonly reveal: (messageId: string, part: string | null) => void;
  readonly toggle: (group: string) => void;
  /** Changes when other messages are displayed by choice: the one at the top stays there. */
  readonly view: unknown;
}

const NOTHING: Filter = new Set();

export function useEntries({ rows, isRunning, keepsLast, filter, clearFilter, target }: Options): Entries {
  const [detail] = usePreference("detail");
  const all = useContext(FoldAll);
  const options = { rows, detail, filter, isRunning, keepsLast };
  const [chosen, setChosen] = useState(() => ({
    all,
    groups: new Map(target ? openGroup(options, target.message, target.part, all?.open ?? false) : []),
  }));
  const groups = chosen.all === all ? chosen.groups : NO_GROUPS;
  const isOpen = useCallback((key: string) => groups.get(key) ?? all?.open ?? false, [groups, all]);
  const entries = useMemo(
    () => entriesOf({ rows, detail, filter, isRunning, keepsLast, isOpen }),
    [rows, detail, filter, isRunning, keepsLast, isOpen],
  );
  const indexes = useMemo(() => indexesOf(entries), [entries]);
  const choose = (changes: readonly (readonly [string, boolean])[]) => {
    if (changes.length) setChosen({ all, groups: new Map([...groups, ...changes]) });
  };
  return {
    entries,
    indexOf: useCallback(
      (messageId, part = null) => {
        const number = partNumber(part);
        const found = indexes.get(messageId) ?? -1;
        const entry = entries[found];
        if (number === null || !entry || contains(entry, messageId, number)) return found;
        return entries.findIndex((one) => one.kind === "message" && contains(one, messageId, number));
      },
      [indexes, entries],
    ),
    reveal: (messageId, part) => {
      const number = partNumber(part);
      const isShown = entries.some((one) => one.kind === "message" && contains(one, messageId, number));
      if (filter.size && (part !== null || !isShown)) clearFilter();
      else if (isShown) return;
      choose(openGroup({ ...options, filter: NOTHING }, messageId, part, all?.open ?? false));
    },
    toggle: (key) => choose([[key, !isOpen(key)]]),
    view: useMemo(() => ({ detail, filter }), [detail, filter]),
  };
}

const NO_GROUPS: ReadonlyMap<string, boolean> = new Map();

/** The index of the part of a message that contains a part. */
const partNumber = (part: string | null): number | null => {
  const number = Number.parseInt(part ?? "", 10);
  return Number.isNaN(number) ? null : number;
};

/** The group that hides a message or part, as an open one. */
function openGroup(
  options: Omit<Parameters<typeof entriesOf>[0], "isOpen">,
  messageId: string,
  part: string | null,
  isOpen: boolean,
): readonly (readonly [string, boolean])[] {
  const entries = entriesOf({ ...options, isOpen: () => isOpen });
  const number = partNumber(part);
  if (entries.some((one) => one.kind === "message" && contains(one, messageId, number))) return [];
  const group = entries.find((one) => one.kind === "group" && contains(one, messageId, number));
  return group ? [[group.key, true]] : [];
}

function indexesOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  entries.forEach((entry, index) => {
    if (entry.kind === "message" && entry.isMain) found.set(entry.row.id, index);
    else if (entry.kind === "message" || !entry.isOpen) {
      const ids = entry.kind === "message" ? [messageOf(entry)] : entry.slices.map(({ row }) => row.id);
      for (const id of ids) if (!found.has(id)) found.set(id, index);
    }
  });
  return found;
}
