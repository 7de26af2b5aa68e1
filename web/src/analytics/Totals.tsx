import { ArrowDownRight, ArrowUpRight, Minus } from "lucide-react";
import type { Stat } from "../api/analytics";
import { compact, count, duration, money } from "../ui/format";
import { Sparkline } from "./charts/Sparkline";
import { share } from "./labels";
import { type Selection, toThreads } from "./selection";
import styles from "./Totals.module.css";

interface Props {
  readonly selection: Selection;
  /** Undefined while it is loading. */
  readonly now?: Stat;
  readonly before?: Stat;
  /** The totals of each period in order; undefined for periods without data. */
  readonly periods: readonly (Stat | undefined)[];
  /** The sessions with a failed call; undefined if there are too many for a link. */
  readonly failing?: readonly string[];
}

interface Measure {
  readonly label: string;
  readonly value: (stat: Stat) => number;
  readonly format: (value: number) => string;
  readonly note?: (stat: Stat) => string;
  readonly errors?: boolean;
}

const MAIN: readonly Measure[] = [
  {
    label: "Cost",
    value: (it) => it.cost ?? 0,
    format: money,
    note: (it) => (it.unpriced ? `${count(it.unpriced)} responses without a price` : ""),
  },
  {
    label: "Tokens",
    value: (it) => it.inputTokens + it.outputTokens,
    format: compact,
    note: (it) => `${compact(it.inputTokens)} in, ${compact(it.outputTokens)} out`,
  },
  { label: "Sessions", value: (it) => it.threads, format: count },
  {
    label: "Active time",
    value: (it) => it.seconds ?? 0,
    format: (value) => (value ? duration(value) : "0 min"),
  },
];

const MORE: readonly Measure[] = [
  { label: "Turns", value: (it) => it.runs, format: count },
  { label: "Messages", value: (it) => it.messages, format: count },
  { label: "Tool calls", value: (it) => it.toolCalls, format: count },
  {
    label: "Failed calls",
    value: (it) => it.toolErrors,
    format: count,
    note: (it) => `${share(it.toolErrors, it.toolCalls)} of calls`,
    errors: true,
  },
  {
    label: "Cached",
    value: (it) => it.cachedInputTokens,
    format: compact,
    note: (it) => `${share(it.cachedInputTokens, it.inputTokens)} of input`,
  },
  {
    label: "Reasoning",
    value: (it) => it.reasoningTokens,
    format: compact,
    note: (it) => `${share(it.reasoningTokens, it.outputTokens)} of output`,
  },
];

/** The totals, each with the change from the previous period. */
export function Totals({ selection, now, before, periods, failing }: Props) {
  const hrefOf = ({ errors }: Measure) =>
    toThreads({ ...selection.filters, errors, ids: errors ? failing : now?.threadIds });
  return (
    <div className={styles.all} aria-busy={!now}>
      <dl className={styles.main}>
        {MAIN.map((measure) => (
          <div key={measure.label} className={styles.card}>
            <Numbers measure={measure} now={now} before={before} href={hrefOf(measure)} />
            <dd className={styles.spark} aria-hidden>
              <Sparkline values={periods.map((one) => (one ? measure.value(one) : 0))} />
            </dd>
          </div>
        ))}
      </dl>
      <dl className={styles.more}>
        {MORE.map((measure) => (
          <div key={measure.label}>
            <Numbers measure={measure} now={now} before={before} href={hrefOf(measure)} />
          </div>
        ))}
      </dl>
    </div>
  );
}

interface NumbersProps {
  readonly measure: Measure;
  readonly now?: Stat;
  readonly before?: Stat;
  readonly href: string;
}

function Numbers({ measure: { label, value, format, note }, now, before, href }: NumbersProps) {
  const text = now && note?.(now);
  return (
    <>
      <dt>{label}</dt>
      <dd className={styles.value}>
        {now ? (
          <a href={href} title={`${count(Math.round(value(now)))}: show the sessions`}>
            {format(value(now))}
          </a>
        ) : (
          "\u00a0"
        )}
      </dd>
      <dd className={styles.note}>
        {now && before && <Change now={value(now)} before={value(before)} format={format} />}
        {text && <span title={text}>{text}</span>}
      </dd>
    </>
  );
}

/** From this ratio on, a change is not a percentage: the previous value was close to nothing. */
const MAX_RATIO = 10;

/** The change: `+20%`, `from $0.02` if that was close to zero, `new` if there was nothing. */
export function changeOf(now: number, before: number, format: (value: number) => string): string {
  if (format(now) === format(before)) return "same";
  if (before === 0) return "new";
  if (now / before >= MAX_RATIO) return `from ${format(before)}`;
  const percent = Math.round(((now - before) / before) * 100);
  return percent ? `${percent > 0 ? "+" : "−"}${count(Math.abs(percent))}%` : "same";
}

function Change({ now, before, format }: { now: number; before: number; format: (value: number) => string }) {
  const text = changeOf(now, before, format);
  const Sign = text === "same" ? Minus : now > before ? ArrowUpRight : ArrowDownRight;
  return (
    <span className={styles.change} title={`${format(before)} in the previous period`}>
      <Sign size={12} aria-hidden />
      {text}
      <span className="visually-hidden">, previously {format(before)}</span>
    </span>
  );
}
