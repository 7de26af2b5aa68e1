import { Ellipsis, Pin, TriangleAlert } from "lucide-react";
import { type CSSProperties, type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { ThreadSummary } from "../api/threads";
import { IconButton } from "../ui/Button";
import { ago, moment, plural } from "../ui/format";
import { toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { nameOf, shortProject } from "./rows";
import styles from "./ThreadRow.module.css";

interface Props {
  readonly row: ThreadSummary;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isRenaming: boolean;
  readonly isLastPinned: boolean;
  readonly position: number;
  readonly size: number;
  readonly style: CSSProperties;
  readonly onMenu: (anchor: HTMLElement) => void;
  readonly onRename: (title: string | null) => void;
  readonly onFocus: () => void;
}

/** A thread in the list: name, project, agent, time of the last change and status. */
export function ThreadRow(props: Props) {
  const { row, isCurrent, isRenaming, isLastPinned, position, size, style, onMenu, onRename, onFocus } =
    props;
  const { thread } = row;
  const names = [styles.row, isCurrent && styles.current, isLastPinned && styles.last]
    .filter(Boolean)
    .join(" ");
  return (
    <li className={names} style={style} aria-posinset={position} aria-setsize={size} onFocus={onFocus}>
      {isRenaming ? (
        <NameField name={thread.title ?? ""} onDone={onRename} />
      ) : (
        <a
          href={toThread(thread.id)}
          className={styles.link}
          data-thread={thread.id}
          aria-current={isCurrent ? "page" : undefined}
        >
          <span className={styles.head}>
            <bdi className={thread.title || row.title ? styles.name : styles.unnamed}>
              {visible(nameOf(row))}
            </bdi>
            <Badge row={row} />
          </span>
          <Facts row={row} now={props.now} />
        </a>
      )}
      <IconButton
        label={`Actions for ${nameOf(row)}`}
        className={styles.more}
        aria-haspopup="menu"
        title="More"
        onClick={(event) => onMenu(event.currentTarget)}
      >
        <Ellipsis size={15} />
      </IconButton>
    </li>
  );
}

function Badge({ row }: { row: ThreadSummary }) {
  if (row.waiting) {
    return (
      <span className={`${styles.badge} ${styles.waiting}`}>
        <span className={styles.dot} aria-hidden />
        waiting
      </span>
    );
  }
  if (!row.runStatus) return null;
  return (
    <span className={`${styles.badge} ${styles.live}`}>
      <span className={styles.dot} aria-hidden />
      live
    </span>
  );
}

function Facts({ row, now }: { row: ThreadSummary; now: number }) {
  const { thread, models = [], errors = 0, pinned } = row;
  const from = [
    thread.project && shortProject(thread.project),
    thread.agent,
    models.length > 1 ? `${models[0]} +${models.length - 1}` : models[0],
  ].filter((one): one is string => Boolean(one));
  return (
    <span className={styles.facts}>
      {pinned && (
        <span className={styles.sign}>
          <Pin size={11} aria-hidden />
          <span className="visually-hidden">pinned, </span>
        </span>
      )}
      {errors > 0 && (
        <span
          className={`${styles.sign} ${styles.error}`}
          title={plural(errors, "message with an error", "messages with errors")}
        >
          <TriangleAlert size={11} aria-hidden />
          <span className="visually-hidden">with errors, </span>
        </span>
      )}
      <bdi className={styles.from}>{visible(from.join(" · "))}</bdi>
      <span className={styles.count} title={plural(thread.messageCount ?? 0, "message")}>
        {thread.messageCount ?? 0}
        <span className="visually-hidden"> messages, </span>
      </span>
      {thread.updatedAt && (
        <time dateTime={thread.updatedAt} title={moment(thread.updatedAt)} className={styles.time}>
          {ago(thread.updatedAt, now)}
        </time>
      )}
    </span>
  );
}

/** An input to rename a thread. Enter saves, Escape cancels. */
function NameField({ name, onDone }: { name: string; onDone: (title: string | null) => void }) {
  const [text, setText] = useState(name);
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false); // unmounting blurs the field, too
  useEffect(() => field.current?.select(), []);
  const done = (title: string | null) => {
    if (!isDone.current) onDone(title);
    isDone.current = true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") done(text.trim());
    else if (event.key === "Escape") done(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      ref={field}
      className={styles.field}
      aria-label="New name"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => done(text.trim())}
    />
  );
}
