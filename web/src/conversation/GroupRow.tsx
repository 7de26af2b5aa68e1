import { memo } from "react";
import { GroupLine } from "../parts/GroupLine";
import type { GroupEntry } from "./entries";
import styles from "./MessageRow.module.css";

interface Props {
  readonly entry: GroupEntry;
  readonly index: number;
  readonly start: number;
  readonly selected: boolean;
  readonly onToggle: (key: string) => void;
  readonly measure: (element: HTMLElement | null) => void;
}

/** The line of a group at its position. */
export const GroupRow = memo(function GroupRow({ entry, index, start, selected, onToggle, measure }: Props) {
  const { key, totals, messages, isOpen, isRunning } = entry;
  return (
    <div
      ref={measure}
      className={styles.row}
      style={{ top: start }}
      data-index={index}
      data-group-row={key}
      data-selected={selected}
      tabIndex={-1}
    >
      <div className={styles.inside}>
        <GroupLine
          totals={totals}
          messages={messages}
          isOpen={isOpen}
          isRunning={isRunning}
          onToggle={() => onToggle(key)}
        />
      </div>
    </div>
  );
});
