import { clock, compact, duration, moment, money, plural } from "../ui/format";
import styles from "./TurnLine.module.css";

interface Props {
  readonly number: number;
  readonly startedAt: string | null;
  readonly seconds: number;
  readonly calls: number;
  readonly failed: number;
  readonly tokens: number;
  readonly cost: number | null;
  readonly isRunning?: boolean;
}

/** The line at the start of a turn: its number, time, duration, calls, tokens and cost. */
export function TurnLine({ number, startedAt, seconds, calls, failed, tokens, cost, isRunning }: Props) {
  return (
    <div className={styles.turn} data-turn={number}>
      <span className={styles.number}>Turn {number}</span>
      {startedAt && (
        <time dateTime={startedAt} title={moment(startedAt)}>
          {clock(startedAt)}
        </time>
      )}
      {isRunning ? <span className={styles.running}>Running</span> : null}
      {!isRunning && seconds >= 1 && <span>{duration(seconds)}</span>}
      {calls > 0 && <span>{plural(calls, "call")}</span>}
      {failed > 0 && <span className={styles.failed}>{failed} failed</span>}
      {tokens > 0 && <span className={styles.wide}>{compact(tokens)} tokens</span>}
      {cost !== null && cost > 0 && <span className={styles.wide}>{money(cost)}</span>}
    </div>
  );
}
