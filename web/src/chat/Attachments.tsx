import { FileText, X } from "lucide-react";
import { IconButton } from "../ui/Button";
import { bytes } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./Attachments.module.css";
import type { AttachedFile } from "./attachments";

interface Props {
  readonly files: readonly AttachedFile[];
  readonly onRemove: (key: number) => void;
}

/** The files of the next message. */
export function Attachments({ files, onRemove }: Props) {
  if (!files.length) return null;
  return (
    <ul className={styles.files} aria-label="Attached files">
      {files.map((file) => (
        <li key={file.key} className={styles.file}>
          {file.mediaType.startsWith("image/") ? (
            <img src={file.url} alt="" className={styles.picture} />
          ) : (
            <FileText size={18} aria-hidden className={styles.sign} />
          )}
          <span className={styles.name}>{visible(file.filename)}</span>
          <span className={styles.size}>{bytes(file.size)}</span>
          <IconButton label={`Remove ${visible(file.filename)}`} onClick={() => onRemove(file.key)}>
            <X size={14} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
