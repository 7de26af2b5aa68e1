import { formatDay, longName, nameOf, plusDays, startOf } from "../periods";
import { type Cell, Cells, LEFT } from "./Cells";
import styles from "./Cells.module.css";
import { useWidth } from "./useWidth";

interface Props {
  readonly name: string;
  readonly summary: string;
  /** The last day: 2026-03-04. */
  readonly last: string;
  /** The values by day; days without one are empty. */
  readonly values: ReadonlyMap<string, number>;
  readonly text: (value: number) => string;
  /** The link of a day with a value. */
  readonly hrefOf: (day: string) => string;
}

/** A year. */
export const WEEKS = 53;
const SMALLEST = 14;
const LARGEST = 24;
const ROW_LABELS = ["Mon", "", "Wed", "", "Fri", "", ""];
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short" });

/** A year of days, weeks as columns. Where there is less space, the last months. */
export function Heatmap({ name, summary, last, values, text, hrefOf }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const fitting = Math.floor((width - LEFT) / SMALLEST);
  const weeks = weeksUntil(last, Math.max(1, Math.min(WEEKS, fitting)));
  const pitch = Math.min(LARGEST, Math.max(SMALLEST, (width - LEFT) / weeks.length));
  const cellOf = (day: string): Cell | null => {
    if (day > last) return null;
    const value = values.get(day) ?? 0;
    return { label: longName("day", day), value, text: text(value), href: value ? hrefOf(day) : undefined };
  };
  return (
    <div ref={container} className={styles.cells}>
      {width > 0 && (
        <Cells
          name={name}
          summary={summary}
          rows={ROW_LABELS.map((_, row) => weeks.map((days) => cellOf(days[row] ?? "")))}
          rowLabels={ROW_LABELS}
          columnLabels={monthLabels(weeks)}
          width={width}
          pitch={[pitch, pitch]}
        />
      )}
    </div>
  );
}

/** The days of so many weeks, each from Monday, the last of which contains a day. */
export function weeksUntil(last: string, count: number): string[][] {
  const monday = startOf(nameOf("week", startOf(last) ?? new Date(0))) ?? new Date(0);
  return Array.from({ length: count }, (_, week) =>
    ROW_LABELS.map((_, day) => formatDay(plusDays(monday, (week + 1 - count) * 7 + day))),
  );
}

/** The name of each month at the week with its first day. */
export function monthLabels(weeks: readonly (readonly string[])[]): string[] {
  return weeks.map((days) => {
    const first = startOf(days.find((day) => day.endsWith("-01")) ?? "");
    return first ? MONTH.format(first) : "";
  });
}
