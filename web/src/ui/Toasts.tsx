import { useSyncExternalStore } from "react";
import { Button } from "./Button";
import styles from "./Toasts.module.css";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
  readonly action?: { readonly label: string; readonly run: () => void };
}

interface Options {
  readonly bad?: boolean;
  readonly action?: Toast["action"];
  /** Milliseconds; 6,000 unless said. */
  readonly lasts?: number;
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => set(toasts.filter((one) => one.id !== id));

/** Say something in passing; gives how to take it back. */
export function toast(text: string, { bad = false, action, lasts = 6000 }: Options = {}): () => void {
  const id = ++last;
  set([...toasts, { id, text, bad, action }]);
  setTimeout(() => dismiss(id), lasts);
  return () => dismiss(id);
}

/** Say that something went wrong, with what to do about it. */
export function toastError(error: unknown): void {
  const hint = (error as { hint?: string }).hint;
  const text = error instanceof Error ? error.message : String(error);
  toast(hint ? `${text} ${hint}` : text, { bad: true, lasts: 10_000 });
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, bad, action }) => (
        <div key={id} className={bad ? `${styles.toast} ${styles.bad}` : styles.toast}>
          <span>{text}</span>
          {action && (
            <Button
              small
              onClick={() => {
                action.run();
                dismiss(id);
              }}
            >
              {action.label}
            </Button>
          )}
        </div>
      ))}
    </div>
  );
}
