/** Threads that are being deleted: gone from the list at once, and for good when nobody takes it back. */
import { useSyncExternalStore } from "react";
import { deleteThread } from "../api/threads";
import { toast, toastError } from "../ui/Toasts";

const PATIENCE = 8000;

const waiting = new Map<string, ReturnType<typeof setTimeout>>();
let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function hide(id: string, on: boolean): void {
  const next = new Set(hidden);
  if (on) next.add(id);
  else next.delete(id);
  hidden = next;
  for (const listener of listeners) listener();
}

/** Delete a thread, unless somebody takes it back in time. */
export function removeLater(id: string, name: string): void {
  if (waiting.has(id)) return;
  hide(id, true);
  waiting.set(
    id,
    setTimeout(() => void remove(id), PATIENCE),
  );
  toast(`Deleted “${name.length > 60 ? `${name.slice(0, 59)}…` : name}”`, {
    lasts: PATIENCE,
    action: { label: "Undo", run: () => undo(id) },
  });
}

function undo(id: string): void {
  clearTimeout(waiting.get(id));
  if (waiting.delete(id)) hide(id, false);
}

async function remove(id: string): Promise<void> {
  waiting.delete(id);
  try {
    await deleteThread(id);
  } catch (error) {
    hide(id, false);
    toastError(error);
  }
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** The threads that are not to be shown any more. */
export const useHidden = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => hidden);

if (typeof window !== "undefined") {
  window.addEventListener("pagehide", () => {
    for (const [id, timer] of waiting) {
      clearTimeout(timer);
      void deleteThread(id, true);
    }
    waiting.clear();
  });
}
