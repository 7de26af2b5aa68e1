/** Deletes threads with undo: a thread leaves the list at once and is deleted on the server after a delay. */
import { useSyncExternalStore } from "react";
import { deleteThread } from "../api/threads";
import { toast, toastError } from "../ui/Toasts";

const UNDO_MS = 8000;

const pending = new Map<string, ReturnType<typeof setTimeout>>();
let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setHidden(id: string, isHidden: boolean): void {
  const next = new Set(hidden);
  if (isHidden) next.add(id);
  else next.delete(id);
  hidden = next;
  for (const listener of listeners) listener();
}

/** Deletes a thread unless the user clicks Undo in time. */
export function deleteWithUndo(id: string, name: string): void {
  if (pending.has(id)) return;
  setHidden(id, true);
  pending.set(
    id,
    setTimeout(() => void remove(id), UNDO_MS),
  );
  toast(`Deleted “${name.length > 60 ? `${name.slice(0, 59)}…` : name}”`, {
    milliseconds: UNDO_MS,
    action: { label: "Undo", run: () => undo(id) },
  });
}

function undo(id: string): void {
  clearTimeout(pending.get(id));
  if (pending.delete(id)) setHidden(id, false);
}

async function remove(id: string): Promise<void> {
  pending.delete(id);
  try {
    await deleteThread(id);
  } catch (error) {
    setHidden(id, false);
    toastError(error);
  }
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
