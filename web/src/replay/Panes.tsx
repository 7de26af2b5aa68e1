import { type ReactNode, useState, useSyncExternalStore } from "react";
import { Tabs } from "../ui/Tabs";
import styles from "./Panes.module.css";

interface Props {
  readonly panes: readonly { readonly name: string; readonly content: ReactNode }[];
}

const narrow = window.matchMedia("(max-width: 900px)");

function subscribe(changed: () => void): () => void {
  narrow.addEventListener("change", changed);
  return () => narrow.removeEventListener("change", changed);
}

/** Panes side by side; on a narrow screen, tabs. */
export function Panes({ panes }: Props) {
  const isNarrow = useSyncExternalStore(subscribe, () => narrow.matches);
  const [open, setOpen] = useState(panes[0]?.name ?? "");
  if (isNarrow) {
    const tabs = panes.map(({ name }) => ({ name, label: name }));
    return (
      <Tabs tabs={tabs} chosen={open} onChoose={setOpen} label="Panes">
        <div className={styles.pane}>{panes.find(({ name }) => name === open)?.content}</div>
      </Tabs>
    );
  }
  return (
    <div className={styles.panes}>
      {panes.map(({ name, content }) => (
        <div key={name} className={styles.pane}>
          {content}
        </div>
      ))}
    </div>
  );
}
