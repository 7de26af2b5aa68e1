import type { ReactNode } from "react";
import { useCommands } from "../ui/commands";
import { count } from "../ui/format";
import { go, parsePlace, toFiles, toThread } from "../ui/routing";
import styles from "./Toolbar.module.css";

interface Props {
  readonly threadId: string;
  readonly isFiles: boolean;
  /** The number of changed files; undefined while it is loading. */
  readonly files: number | undefined;
  /** The controls of the messages. */
  readonly children: ReactNode;
}

/** Switches between the messages and the changed files of a session. */
export function Toolbar({ threadId, isFiles, files, children }: Props) {
  const messagesHref = toThread(threadId);
  const filesHref = toFiles(threadId);
  useCommands([
    {
      keys: "v",
      what: "Messages or changed files",
      group: "Session",
      run: () => go(isFilesNow() ? messagesHref : filesHref),
    },
  ]);
  return (
    <div className={styles.toolbar}>
      <nav aria-label="Views of the session" className={styles.views}>
        <a href={messagesHref} aria-current={isFiles ? undefined : "page"} title="Messages (v)">
          Messages
        </a>
        <a href={filesHref} aria-current={isFiles ? "page" : undefined} title="Changed files (v)">
          Files
          {files ? <span className={styles.count}>{count(files)}</span> : null}
        </a>
      </nav>
      {children}
    </div>
  );
}

/** By the address: the page may not have rendered it yet when the key is pressed again. */
const isFilesNow = (): boolean => parsePlace(location.hash).query.get("view") === "files";
