import { visible } from "../ui/sanitize";
import styles from "./Sources.module.css";

/** Which file the settings of the server are written into. */
export function FileNote({ file }: { file: string }) {
  return (
    <p className={styles.note}>
      Written to <code>{visible(file)}</code>. Environment variables and the partita.toml of a project
      override it.
    </p>
  );
}
