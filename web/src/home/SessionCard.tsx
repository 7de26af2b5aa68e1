import type { ThreadSummary } from "../api/threads";
import { nameOf, shortProject } from "../threads/rows";
import { AgentMark, agentName } from "../ui/AgentMark";
import { ago, duration, moment, money, plural } from "../ui/format";
import { toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import styles from "./SessionCard.module.css";

interface Props {
  readonly row: ThreadSummary;
  readonly now: number;
}

/** A session: its agent, title and project, when it was used, how long it took, and what it cost. */
export function SessionCard({ row, now }: Props) {
  const { thread, seconds, cost } = row;
  const project = row.repository ?? thread.project;
  const size = [
    plural(thread.messageCount ?? 0, "message"),
    seconds ? duration(seconds) : null,
    cost ? money(cost) : null,
  ].filter(Boolean);
  return (
    <a href={placeOf(row)} className={styles.card} data-session={thread.id}>
      <span className={styles.head}>
        <AgentMark agent={thread.agent} size={20} />
        <bdi className={styles.title}>{visible(nameOf(row))}</bdi>
      </span>
      <span className={styles.facts}>
        <bdi className={styles.project}>
          {visible(project ? shortProject(project) : agentName(thread.agent))}
        </bdi>
        {thread.updatedAt && (
          <time dateTime={thread.updatedAt} title={moment(thread.updatedAt)}>
            {ago(thread.updatedAt, now)}
          </time>
        )}
      </span>
      <span className={styles.facts}>
        <span className={styles.size}>{size.join(" · ")}</span>
        <State row={row} />
      </span>
    </a>
  );
}

/** Whether a session waits, runs, or has errors. */
export function State({ row }: { row: ThreadSummary }) {
  const { waiting, runStatus, errors = 0 } = row;
  if (waiting) return <span className={`${styles.state} ${styles.waiting}`}>Waiting for approval</span>;
  if (runStatus) return <span className={`${styles.state} ${styles.running}`}>Running</span>;
  if (errors) return <span className={`${styles.state} ${styles.failed}`}>{plural(errors, "error")}</span>;
  return null;
}

/** The link to a session; if it waits, to the message with the call. */
export const placeOf = ({ thread, waiting }: ThreadSummary): string =>
  toThread(thread.id, waiting ? thread.activeLeafId : null);
