import type { Stat } from "../api/analytics";
import { shortDuration } from "../threads/rows";
import { compact, count, money } from "../ui/format";
import { href } from "../ui/routing";
import type { Week as WeekTotals } from "./queries";
import styles from "./Week.module.css";

interface Measure {
  readonly label: string;
  readonly value: (stat: Stat) => number;
  readonly text: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  { label: "Sessions", value: (it) => it.threads, text: count },
  { label: "Messages", value: (it) => it.messages, text: count },
  { label: "Active time", value: (it) => it.seconds ?? 0, text: (it) => (it ? shortDuration(it) : "0 min") },
  { label: "Tokens", value: (it) => it.inputTokens + it.outputTokens, text: compact },
  { label: "Cost", value: (it) => it.cost ?? 0, text: money },
];

/** The totals of the last seven days, each compared with the seven days before. */
export function Week({ week }: { week: WeekTotals | undefined }) {
  const linkOf = (label: string) =>
    label === "Sessions" ? href(["sessions"], { since: week?.since }) : href(["analytics"], { range: "7d" });
  return (
    <dl className={styles.week} aria-busy={!week}>
      {MEASURES.map(({ label, value, text }) => {
        const now = week?.now && value(week.now);
        return (
          <div key={label} className={styles.card}>
            <dt>{label}</dt>
            <dd className={styles.value}>
              {now === undefined ? " " : <a href={linkOf(label)}>{text(now)}</a>}
            </dd>
            <dd className={styles.note}>
              {now === undefined ? " " : comparison(now, week?.before ? value(week.before) : 0, text)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** How a value has changed: `up from 8`. */
export function comparison(now: number, before: number, text: (value: number) => string): string {
  if (before === 0) return now === 0 ? " " : "none the week before";
  if (text(now) === text(before)) return "same as the week before";
  return `${now > before ? "up" : "down"} from ${text(before)}`;
}
