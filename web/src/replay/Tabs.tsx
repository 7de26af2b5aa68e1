import { type ReactNode, useId, useState, useSyncExternalStore } from "react";
import styles from "./Tabs.module.css";

interface Props {
  readonly tabs: readonly { readonly name: string; readonly content: ReactNode }[];
}

const narrow = window.matchMedia("(max-width: 900px)");

function subscribe(changed: () => void): () => void {
  narrow.addEventListener("change", changed);
  return () => narrow.removeEventListener("change", changed);
}

/** Panes side by side; on a narrow screen, tabs. */
export function Tabs({ tabs }: Props) {
  const isNarrow = useSyncExternalStore(subscribe, () => narrow.matches);
  const [open, setOpen] = useState(0);
  const id = useId();
  if (!isNarrow) {
    return (
      <div className={styles.panes}>
        {tabs.map(({ name, content }) => (
          <div key={name} className={styles.pane}>
            {content}
          </div>
        ))}
      </div>
    );
  }
  const move = (by: number) => {
    const next = (open + by + tabs.length) % tabs.length;
    setOpen(next);
    document.getElementById(`${id}-tab-${next}`)?.focus();
  };
  return (
    <div className={styles.tabbed}>
      <div
        role="tablist"
        className={styles.tabs}
        onKeyDown={(event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!by) return;
          event.preventDefault();
          move(by);
        }}
      >
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === open}
            aria-controls={`${id}-pane`}
            tabIndex={index === open ? 0 : -1}
            onClick={() => setOpen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-pane`} aria-labelledby={`${id}-tab-${open}`} className={styles.pane}>
        {tabs[open]?.content}
      </div>
    </div>
  );
}
