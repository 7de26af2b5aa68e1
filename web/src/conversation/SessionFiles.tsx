import type { ThreadOverview } from "../partita.gen";
import { FilesView } from "../session/FilesView";
import { go, toFiles, toThread } from "../ui/routing";
import styles from "./SessionFiles.module.css";
import { useDiff } from "./useDiff";

interface Props {
  readonly threadId: string;
  readonly branch: string | null;
  readonly overview: ThreadOverview | undefined;
  readonly folder: string | undefined;
  /** The path in the address. */
  readonly selected: string | null;
}

/** The changed files of a session, over its messages, whose scroll position is kept. */
export function SessionFiles({ threadId, branch, overview, folder, selected }: Props) {
  const { diff, error, retry, loadAll } = useDiff(threadId, branch, overview);
  return (
    <div className={styles.files}>
      <FilesView
        files={overview?.files}
        diffs={diff?.files}
        error={error}
        retry={retry}
        folder={folder}
        selected={selected}
        onSelect={(path) => go(toFiles(threadId, path), { replace: true })}
        hrefOf={({ messageId, part }) => toThread(threadId, messageId, part)}
        loadAll={loadAll}
      />
    </div>
  );
}
