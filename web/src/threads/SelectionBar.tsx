import { Pin, Trash2, X } from "lucide-react";
import type { ThreadSummary } from "../api/threads";
import { IconButton } from "../ui/Button";
import { count } from "../ui/format";
import styles from "./SelectionBar.module.css";

interface Props {
  readonly rows: readonly ThreadSummary[];
  readonly onPin: () => void;
  readonly onDelete: () => void;
  readonly onClear: () => void;
}

/** The number of selected sessions, and what can be done with all of them. */
export function SelectionBar({ rows, onPin, onDelete, onClear }: Props) {
  return (
    <div className={styles.bar} role="toolbar" aria-label="Selected sessions">
      <span className={styles.count} role="status">
        {count(rows.length)} selected
      </span>
      <IconButton label={rows.every((row) => row.pinned) ? "Unpin" : "Pin"} onClick={onPin}>
        <Pin size={15} />
      </IconButton>
      <IconButton label="Delete" onClick={onDelete}>
        <Trash2 size={15} />
      </IconButton>
      <IconButton label="Clear selection" onClick={onClear}>
        <X size={15} />
      </IconButton>
    </div>
  );
}
