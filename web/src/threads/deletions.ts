/** Deletes threads with undo: they leave the list at once and are deleted on the server after a delay. */
import { useSyncExternalStore } from "react";
import { deleteThread } from "../api/threads";
import { visible } from "../ui/sanitize";
import { toast } from "../ui/Toasts";
import { forEachId } from "./batch";

const UNDO_MS = 8000;

interface Deletion {
  readonly id: string;
  readonly name: string;
}

const pending = new Map<string, ReturnType<typeof setTimeout>>();
let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setHidden(ids: readonly string[], isHidden: boolean): void {
  const next = new Set(hidden);
  for (const id of ids) {
    if (isHidden) next.add(id);
    else next.delete(id);
  }
  hidden = next;
  for (const listener of listeners) listener();
}

/** Deletes threads unless the user clicks Undo in time. */
export function deleteWithUndo(threads: readonly Deletion[]): void {
  const chosen = threads.filter(({ id }) => !pending.has(id));
  const [first] = chosen;
  if (!first) return;
  const ids = chosen.map(({ id }) => id);
  setHidden(ids, true);
  const timer = setTimeout(() => void remove(ids), UNDO_MS);
  for (const id of ids) pending.set(id, timer);
  toast(chosen.length === 1 ? `Deleted “${shortName(first.name)}”` : `Deleted ${chosen.length} sessions`, {
    milliseconds: UNDO_MS,
    action: { label: "Undo", run: () => undo(ids) },
  });
}

const shortName = (name: string): string => visible(name.length > 60 ? `${name.slice(0, 59)}…` : name);

function undo(ids: readonly string[]): void {
  for (const id of ids) clearTimeout(pending.get(id));
  setHidden(
    ids.filter((id) => pending.delete(id)),
    false,
  );
}

/** Deletes threads. Those that fail appear again. */
async function remove(ids: readonly string[]): Promise<void> {
  for (const id of ids) pending.delete(id);
  const failed = await forEachId(ids, "deleted", (id) => deleteThread(id));
  if (failed.length) setHidden(failed, false);
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** The threads that are being deleted. */
export const useHiddenThreads = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => hidden);

if (typeof window !== "undefined") {
  window.addEventListener("pagehide", () => {
    for (const [id, timer] of pending) {
      clearTimeout(timer);
      void deleteThread(id, true);
    }
    pending.clear();
  });
}
