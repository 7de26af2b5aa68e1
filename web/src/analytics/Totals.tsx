import { ArrowDownRight, ArrowUpRight, Minus } from "lucide-react";
import type { Stat } from "../api/analytics";
import { compact, count, money } from "../ui/format";
import { Sparkline } from "./charts/Sparkline";
import { share } from "./labels";
import { type Selection, toThreads } from "./selection";
import styles from "./Totals.module.css";

interface Props {
  readonly selection: Selection;
  readonly now: Stat;
  readonly before?: Stat;
  /** The totals of each period in order; undefined for periods without data. */
  readonly periods: readonly (Stat | undefined)[];
  /** The sessions with a failed call; undefined if there are too many for a link. */
  readonly failing?: readonly string[];
}

interface Measure {
  readonly label: string;
  readonly value: (stat: Stat) => number;
  readonly text: (stat: Stat) => string;
  readonly note?: (stat: Stat) => string;
  readonly errors?: boolean;
}

const MEASURES: readonly Measure[] = [
  { label: "Threads", value: (it) => it.threads, text: (it) => count(it.threads) },
  { label: "Runs", value: (it) => it.runs, text: (it) => count(it.runs) },
  { label: "Messages", value: (it) => it.messages, text: (it) => count(it.messages) },
  {
    label: "Cost",
    value: (it) => it.cost ?? 0,
    text: (it) => money(it.cost ?? 0),
    note: (it) => (it.unpriced ? `${count(it.unpriced)} without a price` : ""),
  },
  { label: "Tokens in", value: (it) => it.inputTokens, text: (it) => compact(it.inputTokens) },
  { label: "Tokens out", value: (it) => it.outputTokens, text: (it) => compact(it.outputTokens) },
  {
    label: "Cached",
    value: (it) => it.cachedInputTokens,
    text: (it) => compact(it.cachedInputTokens),
    note: (it) => `${share(it.cachedInputTokens, it.inputTokens)} of input`,
  },
  {
    label: "Reasoning",
    value: (it) => it.reasoningTokens,
    text: (it) => compact(it.reasoningTokens),
    note: (it) => `${share(it.reasoningTokens, it.outputTokens)} of output`,
  },
  {
    label: "Tool errors",
    value: (it) => it.toolErrors,
    text: (it) => count(it.toolErrors),
    note: (it) => `${share(it.toolErrors, it.toolCalls)} of ${compact(it.toolCalls)} calls`,
    errors: true,
  },
];

/** The totals, each with the change from the previous period. */
export function Totals({ selection, now, before, periods, failing }: Props) {
  return (
    <dl className={styles.totals}>
      {MEASURES.map(({ label, value, text, note, errors }) => {
        const filters = { ...selection.filters, errors, ids: errors ? failing : now.threadIds };
        return (
          <div key={label} className={styles.card}>
            <dt>{label}</dt>
            <dd className={styles.value}>
              <a href={toThreads(filters)} title={`${count(value(now))}: show the threads`}>
                {text(now)}
              </a>
            </dd>
            <dd className={styles.note}>
              {before ? <Change now={value(now)} before={value(before)} then={text(before)} /> : null}
              <span>{note?.(now)}</span>
            </dd>
            <dd className={styles.spark} aria-hidden>
              <Sparkline values={periods.map((one) => (one ? value(one) : 0))} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The relative change: `+20%`. */
export function changeOf(now: number, before: number): string {
  if (now === before) return "same";
  if (before === 0) return "new";
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent > 0 ? "+" : "−"}${count(Math.abs(percent))}%`;
}

function Change({ now, before, then }: { now: number; before: number; then: string }) {
  const Sign = now > before ? ArrowUpRight : now < before ? ArrowDownRight : Minus;
  return (
    <span className={styles.change} title={`${then} in the previous period`}>
      <Sign size={12} aria-hidden />
      {changeOf(now, before)}
      <span className="visually-hidden">, previously {then}</span>
    </span>
  );
}
