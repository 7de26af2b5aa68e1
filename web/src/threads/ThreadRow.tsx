import { Ellipsis } from "lucide-react";
import type { CSSProperties, MouseEvent } from "react";
import type { ThreadSummary } from "../api/threads";
import { AgentMark } from "../ui/AgentMark";
import { IconButton } from "../ui/Button";
import { toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { NameField } from "./NameField";
import { RowFacts } from "./RowFacts";
import { displayName, nameOf } from "./rows";
import styles from "./ThreadRow.module.css";

interface Props {
  readonly row: ThreadSummary;
  readonly now: number;
  readonly lines: 1 | 2;
  readonly isCurrent: boolean;
  readonly isRenaming: boolean;
  readonly isSelected: boolean;
  /** Whether the checkbox is shown without hovering. */
  readonly isSelecting: boolean;
  /** Whether the Tab key reaches this row. */
  readonly isTabStop: boolean;
  readonly position: number;
  readonly size: number;
  readonly style: CSSProperties;
  readonly onClick: (event: MouseEvent) => void;
  readonly onSelect: (isRange: boolean) => void;
  readonly onMenu: (anchor: HTMLElement) => void;
  readonly onRename: (title: string | null) => void;
  readonly onFocus: () => void;
}

/** A session in the list: agent, title, and what is known of it on one line. */
export function ThreadRow(props: Props) {
  const { row, lines, isCurrent, isRenaming, isSelected, isSelecting, onRename } = props;
  const { thread, tags = [] } = row;
  const name = nameOf(row);
  const hasName = Boolean(thread.title || row.title);
  return (
    <li
      className={styles.row}
      style={props.style}
      data-current={isCurrent || undefined}
      data-selected={isSelected || undefined}
      data-selecting={isSelecting || undefined}
      aria-posinset={props.position}
      aria-setsize={props.size}
      onFocus={props.onFocus}
    >
      {isRenaming ? (
        <NameField name={thread.title ?? row.title ?? ""} onDone={onRename} />
      ) : (
        <a
          href={toThread(thread.id)}
          className={styles.link}
          tabIndex={props.isTabStop ? 0 : -1}
          data-thread={thread.id}
          aria-current={isCurrent ? "page" : undefined}
          onClick={props.onClick}
        >
          <span className={styles.mark}>
            <AgentMark agent={thread.agent} size={22} />
          </span>
          <span className={styles.body}>
            <bdi
              className={hasName ? styles.name : styles.unnamed}
              data-lines={lines}
              data-name
              title={visible(name)}
            >
              {displayName(row)}
            </bdi>
            <RowFacts row={row} now={props.now} />
            {tags.length > 0 && (
              <span className={styles.tags}>
                <span className="visually-hidden">, tags: </span>
                {tags.map((tag) => (
                  <bdi key={tag} className={styles.tag}>
                    {visible(tag)}
                  </bdi>
                ))}
              </span>
            )}
          </span>
        </a>
      )}
      <input
        type="checkbox"
        className={styles.check}
        tabIndex={-1}
        aria-label={`Select ${displayName(row)}`}
        checked={isSelected}
        onChange={(event) => props.onSelect((event.nativeEvent as unknown as MouseEvent).shiftKey)}
      />
      <IconButton
        label={`Actions for ${name}`}
        className={styles.more}
        tabIndex={-1}
        aria-haspopup="menu"
        title="More"
        onClick={(event) => props.onMenu(event.currentTarget)}
      >
        <Ellipsis size={15} />
      </IconButton>
    </li>
  );
}
