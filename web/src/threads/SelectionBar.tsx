import { Download, Pin, PinOff, Tag, Trash2, X } from "lucide-react";
import { useState } from "react";
import { type ShareFormat, shareFiles } from "../api/share";
import type { ThreadSummary } from "../api/threads";
import { IconButton } from "../ui/Button";
import { downloadFile } from "../ui/download";
import { count } from "../ui/format";
import { Menu } from "../ui/Menu";
import { toastError } from "../ui/Toasts";
import styles from "./SelectionBar.module.css";

interface Props {
  readonly rows: readonly ThreadSummary[];
  readonly onTag: () => void;
  readonly onPin: () => void;
  readonly onDelete: () => void;
  readonly onClear: () => void;
}

const FORMATS: Readonly<Partial<Record<ShareFormat, string>>> = {
  html: "Web page (HTML)",
  markdown: "Markdown",
  json: "JSON",
  jsonl: "JSON lines",
};

/** The number of selected sessions, and what can be done with all of them. */
export function SelectionBar({ rows, onTag, onPin, onDelete, onClear }: Props) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isPinned = rows.every((row) => row.pinned);
  const download = (format: ShareFormat) => {
    setBusy(true);
    shareFiles(
      rows.map((row) => row.thread.id),
      { format, redact: {}, leaveOut: {} },
    )
      .then(({ name, data }) => downloadFile(name, data))
      .catch(toastError)
      .finally(() => setBusy(false));
  };
  return (
    <div className={styles.bar} role="toolbar" aria-label="Selected sessions">
      <span className={styles.count} role="status">
        {isBusy ? "Exporting …" : `${count(rows.length)} selected`}
      </span>
      <IconButton label="Tags" onClick={onTag}>
        <Tag size={15} />
      </IconButton>
      <IconButton label={isPinned ? "Unpin" : "Pin"} onClick={onPin}>
        {isPinned ? <PinOff size={15} /> : <Pin size={15} />}
      </IconButton>
      <IconButton
        label="Export"
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        disabled={isBusy}
        onClick={({ currentTarget }) => setAnchor((was) => (was ? null : currentTarget))}
      >
        <Download size={15} />
      </IconButton>
      <IconButton label="Delete" onClick={onDelete}>
        <Trash2 size={15} />
      </IconButton>
      <IconButton label="Clear selection" onClick={onClear}>
        <X size={15} />
      </IconButton>
      {anchor && (
        <Menu
          label="Export as one file"
          anchor={anchor}
          onClose={() => setAnchor(null)}
          items={Object.entries(FORMATS).map(([format, label]) => ({
            label,
            run: () => download(format as ShareFormat),
          }))}
        />
      )}
    </div>
  );
}
