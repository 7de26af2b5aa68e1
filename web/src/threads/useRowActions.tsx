/** The actions on a session in the list, and its menu. */
import { CheckCheck, Copy, Link, Pencil, Pin, PinOff, StickyNote, Tag, Trash2 } from "lucide-react";
import { copyThread, pinThread, renameThread, type ThreadSummary } from "../api/threads";
import { copyWithToast } from "../ui/clipboard";
import type { MenuItem } from "../ui/Menu";
import { go, href, toThread } from "../ui/routing";
import { toastError } from "../ui/Toasts";
import { forEachId } from "./batch";
import { deleteWithUndo } from "./deletions";
import { nameOf } from "./rows";

export interface ListActions {
  readonly onChange: (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => void;
  readonly onRefresh: (ids: readonly string[]) => Promise<void>;
}

export function useRowActions({ onChange, onRefresh }: ListActions, current: string | undefined) {
  const pin = (rows: readonly ThreadSummary[]) => {
    const pinned = rows.some((row) => !row.pinned);
    const changed = rows.filter((row) => Boolean(row.pinned) !== pinned).map((row) => row.thread.id);
    onChange(new Set(changed), (was) => ({ ...was, pinned }));
    forEachId(changed, "changed", (id) => pinThread(id, pinned)).then(() =>
      onRefresh(changed).catch(toastError),
    );
  };
  const rename = (row: ThreadSummary, title: string) => {
    const { id } = row.thread;
    onChange(new Set([id]), (was) => ({ ...was, title, thread: { ...was.thread, title } }));
    renameThread(id, title)
      .catch(toastError)
      .finally(() => onRefresh([id]).catch(toastError));
  };
  const remove = (rows: readonly ThreadSummary[]) => {
    deleteWithUndo(rows.map((row) => ({ id: row.thread.id, name: nameOf(row) })));
    if (rows.some((row) => row.thread.id === current)) go(href([]));
  };
  const copyLink = (row: ThreadSummary) =>
    void copyWithToast(new URL(toThread(row.thread.id), location.href).href, "Link copied");
  const duplicate = (row: ThreadSummary) => {
    copyThread(row.thread.id)
      .then((copy) => {
        go(toThread(copy.id));
        return onRefresh([copy.id]);
      })
      .catch(toastError);
  };
  return { pin, rename, remove, copyLink, duplicate };
}

interface MenuActions {
  readonly onRename: () => void;
  readonly onTag: () => void;
  readonly onNote: () => void;
  readonly onSelect: () => void;
  readonly onRemove: () => void;
}

export const rowMenu = (
  row: ThreadSummary,
  actions: ReturnType<typeof useRowActions>,
  { onRename, onTag, onNote, onSelect, onRemove }: MenuActions,
): readonly MenuItem[] => [
  {
    label: row.pinned ? "Unpin" : "Pin",
    icon: row.pinned ? <PinOff size={14} /> : <Pin size={14} />,
    run: () => actions.pin([row]),
  },
  { label: "Rename", icon: <Pencil size={14} />, count: "F2", run: onRename },
  { label: "Tags …", icon: <Tag size={14} />, run: onTag },
  { label: row.note ? "Edit the note …" : "Add a note …", icon: <StickyNote size={14} />, run: onNote },
  { label: "Select", icon: <CheckCheck size={14} />, count: "Space", run: onSelect },
  { label: "Copy link", icon: <Link size={14} />, run: () => actions.copyLink(row) },
  { label: "Duplicate", icon: <Copy size={14} />, run: () => actions.duplicate(row) },
  { label: "Delete", icon: <Trash2 size={14} />, count: "Del", bad: true, run: onRemove },
];
