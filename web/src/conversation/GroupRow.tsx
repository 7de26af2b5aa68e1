import { memo } from "react";
import { type SessionFacts, useSessionFacts } from "../context/sessionFacts";
import { GroupLine } from "../parts/GroupLine";
import type { GroupEntry } from "./entries";
import styles from "./MessageRow.module.css";
import { holds } from "./slices";

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
  const { key, messages, isOpen, isRunning } = entry;
  const totals = { ...entry.totals, failed: failedIn(entry, useSessionFacts()) };
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

/** How many calls of a group failed. The outline does not know those of which only the exit code says so. */
const failedIn = ({ slices, totals }: GroupEntry, { failures }: SessionFacts): number =>
  failures
    ? slices.reduce(
        (sum, slice) => sum + (failures.get(slice.row.id) ?? []).filter((part) => holds(slice, part)).length,
        0,
      )
    : totals.failed;
