import type { ReactNode } from "react";
import type { LogLocation } from "../api/settings";
import { AgentMark, agentName } from "../ui/AgentMark";
import { Fold } from "../ui/Fold";
import { ago, moment, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import { useNow } from "../ui/useNow";
import styles from "./SourceList.module.css";

interface Props {
  readonly items: readonly LogLocation[];
  /** What a place can be changed with. */
  readonly action?: (item: LogLocation) => ReactNode;
}

/** Places where sessions are searched for: what each contains, and what could not be read. */
export function SourceList({ items, action }: Props) {
  const now = useNow();
  return (
    <ul className={styles.list}>
      {items.map((item) => (
        <li key={item.path} data-source={item.path}>
          <div className={styles.place}>
            <AgentMark agent={item.agent ?? "folder"} size={20} />
            <div className={styles.text}>
              <p className={styles.name}>
                {item.agent ? agentName(item.agent) : "Added folder"}
                <bdi className={styles.path}>{visible(item.path)}</bdi>
              </p>
              <p className={styles.facts}>{factsOf(item)}</p>
            </div>
            {item.updatedAt && (
              <time className={styles.time} dateTime={item.updatedAt} title={moment(item.updatedAt)}>
                {ago(item.updatedAt, now)}
              </time>
            )}
            {action?.(item)}
          </div>
          {item.problemCount > 0 && <Problems item={item} />}
        </li>
      ))}
    </ul>
  );
}

/** What a place contains, and whether that is imported: `12 sessions, 3 new files, followed`. */
export function factsOf(item: LogLocation): string {
  const { exists, files, newFiles, sessions, isImported, isFollowed } = item;
  if (!exists) return "Does not exist";
  if (!files) return "No sessions";
  const found = [
    sessions || !newFiles ? plural(sessions, "session") : null,
    newFiles ? `${plural(newFiles, "file")} not imported` : null,
    !isImported ? "turned off" : isFollowed ? "followed" : null,
  ];
  return found.filter(Boolean).join(", ");
}

function Problems({ item }: { item: LogLocation }) {
  const { problems, problemCount } = item;
  return (
    <Fold head={<span className={styles.failed}>{plural(problemCount, "error")}</span>}>
      <ul className={styles.problems}>
        {problems.map(({ file, what, hint }) => (
          <li key={`${file} ${what}`}>
            <strong>{visible(what)}</strong>
            <bdi className={styles.file}>{visible(file)}</bdi>
            {hint && <span>{visible(hint)}</span>}
          </li>
        ))}
        {problemCount > problems.length && <li>and {problemCount - problems.length} more</li>}
      </ul>
    </Fold>
  );
}

/** `Looked in 6 places, 4 with sessions, 2 errors`. */
export function summaryOf(items: readonly LogLocation[]): string {
  const found = items.filter((one) => one.files).length;
  const errors = items.reduce((sum, one) => sum + one.problemCount, 0);
  const parts = [
    `Looked in ${plural(items.length, "place")}`,
    found ? `${found} with sessions` : "none with sessions",
    errors ? plural(errors, "error") : null,
  ];
  return parts.filter(Boolean).join(", ");
}
