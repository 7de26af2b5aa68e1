import { ChevronRight, CircleX, LoaderCircle } from "lucide-react";
import { duration, plural } from "../ui/format";
import { type CallTotals, kindsOf, totalCalls } from "./callTotals";
import styles from "./GroupLine.module.css";

interface Props {
  readonly totals: CallTotals;
  /** The texts between the calls, if they are in the group. */
  readonly messages?: number;
  readonly isOpen: boolean;
  readonly isRunning?: boolean;
  readonly onToggle: () => void;
}

/** The line of a group of calls: how many, of which kinds, how long they took, how many failed. */
export function GroupLine({ totals, messages = 0, isOpen, isRunning = false, onToggle }: Props) {
  const { counts, failed, seconds } = totals;
  const calls = totalCalls(counts);
  const title = [
    ...(calls ? [plural(calls, "call")] : []),
    ...(messages ? [plural(messages, "message")] : []),
    ...(seconds !== null && seconds >= 1 ? [duration(seconds)] : []),
  ];
  return (
    <button type="button" className={styles.line} aria-expanded={isOpen} onClick={onToggle} data-group>
      <ChevronRight size={14} className={styles.sign} aria-hidden />
      <span className={styles.title}>{title.join(", ") || "Reasoning"}</span>
      <span className={styles.kinds}>{kindsOf(counts)}</span>
      {failed > 0 && (
        <span className={styles.failed}>
          <CircleX size={13} aria-hidden /> {failed} failed
        </span>
      )}
      {isRunning && (
        <span className={styles.running}>
          <LoaderCircle size={13} aria-hidden className={styles.spinning} /> Running
        </span>
      )}
    </button>
  );
}
