import styles from "./FilePath.module.css";
import { absolutePath, relativePath, splitPath } from "./paths";
import { visible } from "./sanitize";

interface Props {
  readonly path: string;
  /** The folder of the project: paths inside it are displayed relative to it. */
  readonly folder?: string;
  readonly className?: string;
}

/** A path. If it is too long for its line, its folders are cut, not the name of the file. */
export function FilePath({ path, folder, className }: Props) {
  const [folders, name] = splitPath(relativePath(path, folder));
  return (
    <span
      className={[styles.path, className].filter(Boolean).join(" ")}
      title={visible(absolutePath(path, folder) ?? path)}
    >
      {folders && <span className={styles.folders}>{visible(folders)}</span>}
      <span className={styles.name}>{visible(name)}</span>
    </span>
  );
}
