import type { ThreadSummary } from "../api/threads";
import { nameOf, shortProject } from "../threads/rows";
import { AgentMark } from "../ui/AgentMark";
import { ago, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./Active.module.css";
import { placeOf, State } from "./SessionCard";

/** Sessions that are listed; there are rarely more. */
const SHOWN = 6;

interface Props {
  readonly rows: readonly ThreadSummary[];
  readonly now: number;
}

/** The sessions that wait for an approval or run now. */
export function Active({ rows, now }: Props) {
  if (!rows.length) return <p className={styles.none}>No session is running.</p>;
  return (
    <ul className={styles.list}>
      {rows.slice(0, SHOWN).map((row) => (
        <li key={row.thread.id}>
          <a href={placeOf(row)} className={styles.row} data-waiting={row.waiting}>
            <AgentMark agent={row.thread.agent} size={20} />
            <bdi className={styles.title}>{visible(nameOf(row))}</bdi>
            {row.thread.project && (
              <bdi className={styles.project}>
                {visible(shortProject(row.repository ?? row.thread.project))}
              </bdi>
            )}
            {row.thread.updatedAt && (
              <time dateTime={row.thread.updatedAt} className={styles.time}>
                {ago(row.thread.updatedAt, now)}
              </time>
            )}
            <State row={row} />
          </a>
        </li>
      ))}
      {rows.length > SHOWN && (
        <li className={styles.none}>and {plural(rows.length - SHOWN, "more session")}</li>
      )}
    </ul>
  );
}
