import { FileMinus2, FilePen, FilePlus2 } from "lucide-react";
import type { ChangedFile } from "../partita.gen";
import { Counts } from "../tools/Diff";
import { relativePath, splitPath } from "../ui/paths";
import { visible } from "../ui/sanitize";
import styles from "./FileList.module.css";

interface Props {
  readonly files: readonly ChangedFile[];
  readonly folder: string | undefined;
  readonly selected: string | null;
  readonly onSelect: (path: string) => void;
}

/** The changed files, each with its folder below its name. */
export function FileList({ files, folder, selected, onSelect }: Props) {
  return (
    <nav className={styles.list} aria-label="Files">
      <ul>
        {files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              className={styles.file}
              aria-current={file.path === selected || undefined}
              title={visible(file.path)}
              onClick={() => onSelect(file.path)}
            >
              <Mark file={file} />
              <Name path={relativePath(file.path, folder)} />
              <Counts plus={file.added} minus={file.removed} />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Mark({ file }: { file: ChangedFile }) {
  const [Icon, label, kind] = file.deleted
    ? ([FileMinus2, "deleted", styles.deleted] as const)
    : file.created
      ? ([FilePlus2, "new", styles.created] as const)
      : ([FilePen, "", undefined] as const);
  return (
    <span className={kind}>
      <Icon size={15} aria-hidden />
      {label && <span className="visually-hidden">{label}, </span>}
    </span>
  );
}

function Name({ path }: { path: string }) {
  const [folders, name] = splitPath(path);
  return (
    <span className={styles.text}>
      <span className={styles.name}>{visible(folders ? name.slice(1) : name)}</span>
      {folders && (
        <span className={styles.folders}>
          <bdi>{visible(folders)}</bdi>
        </span>
      )}
    </span>
  );
}
