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
  readonly milliseconds?: number;
}

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => set(toasts.filter((one) => one.id !== id));

/** Shows a message for some seconds. Returns a function that removes it. */
export function toast(text: string, { bad = false, action, milliseconds = 6000 }: Options = {}): () => void {
  const id = ++last;
  set([...toasts, { id, text, bad, action }]);
  setTimeout(() => dismiss(id), milliseconds);
  return () => dismiss(id);
}

/** Shows an error with its hint. */
export function toastError(error: unknown): void {
  const hint = (error as { hint?: string }).hint;
  const text = error instanceof Error ? error.message : String(error);
  toast(hint ? `${text} ${hint}` : text, { bad: true, milliseconds: 10_000 });
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
