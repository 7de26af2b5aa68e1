import type { ImportStatus } from "../api/feed";
import { count, plural } from "../ui/format";
import styles from "./ImportBar.module.css";

/** The progress of a running import of sessions. */
export function ImportBar({ status }: { status: ImportStatus | null }) {
  if (status?.state !== "reading") return null;
  const { files, allFiles, sessions } = status;
  const text = `Reading sessions: ${count(files)} of ${plural(allFiles, "file")}`;
  return (
    <div className={styles.bar}>
      <p className={styles.text}>
        <span>{text}</span>
        {sessions > 0 && <span>{count(sessions)} new</span>}
      </p>
      <progress
        className={styles.progress}
        aria-label="Reading sessions"
        max={Math.max(allFiles, 1)}
        value={Math.min(files, allFiles)}
      />
    </div>
  );
}
