import { MessageSquare, Pin, StickyNote, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { ThreadSummary } from "../api/threads";
import { agentName } from "../ui/AgentMark";
import { duration, moment, money, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import { shortTime } from "./groups";
import { repositoryOf, shortDuration, shortMoney } from "./rows";
import styles from "./ThreadRow.module.css";

/** What is known of a session, on one line. Where it is too short, the last facts are left out. */
export function RowFacts({ row, now }: { row: ThreadSummary; now: number }) {
  const { thread, errors = 0, seconds, cost, note, pinned } = row;
  const messages = thread.messageCount ?? 0;
  const repository = repositoryOf(row);
  const isActive = Boolean(row.waiting || row.runStatus);
  return (
    <span className={styles.facts}>
      <Status row={row} />
      {pinned && (
        <Sign name="pinned" kind={styles.pinned}>
          <Pin size={11} aria-hidden />
        </Sign>
      )}
      {note && (
        <Sign name="note" title={note}>
          <StickyNote size={11} aria-hidden />
        </Sign>
      )}
      {errors > 0 && (
        <Sign
          name={errors === 1 ? "error" : "errors"}
          title={plural(errors, "message with an error", "messages with errors")}
          kind={styles.error}
        >
          <TriangleAlert size={11} aria-hidden />
          {errors}
        </Sign>
      )}
      <bdi className={styles.from} title={repository ? visible(repository.about) : undefined}>
        {visible(repository?.name ?? agentName(thread.agent))}
      </bdi>
      {thread.updatedAt && (
        <time dateTime={thread.updatedAt} title={moment(thread.updatedAt)} className={styles.fact}>
          {shortTime(thread.updatedAt, now)}
        </time>
      )}
      <span className={`${styles.fact} ${styles.count}`} title={plural(messages, "message")}>
        <MessageSquare size={11} aria-hidden />
        {messages}
        <span className="visually-hidden"> {messages === 1 ? "message" : "messages"}</span>
      </span>
      {!isActive && cost ? (
        <span className={styles.fact} title={`Cost: ${money(cost)}`}>
          {shortMoney(cost)}
        </span>
      ) : null}
      {!isActive && seconds ? (
        <span className={styles.fact} title={`Duration: ${duration(seconds)}`}>
          {shortDuration(seconds)}
        </span>
      ) : null}
    </span>
  );
}

interface SignProps {
  readonly name: string;
  readonly title?: string;
  readonly kind?: string;
  readonly children: ReactNode;
}

function Sign({ name, title, kind, children }: SignProps) {
  return (
    <span className={`${styles.sign} ${kind ?? ""}`} title={title && visible(title)}>
      {children}
      <span className="visually-hidden"> {name}, </span>
    </span>
  );
}

/** Whether a session waits for an approval, or runs. */
function Status({ row }: { row: ThreadSummary }) {
  if (!row.waiting && !row.runStatus) return null;
  return (
    <span className={`${styles.status} ${row.waiting ? styles.waiting : styles.running}`}>
      <span className={styles.dot} aria-hidden />
      {row.waiting ? "Waiting" : "Running"}
    </span>
  );
}
