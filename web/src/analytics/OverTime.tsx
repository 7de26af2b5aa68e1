import { useId } from "react";
import type { Split, Stat, StatFilters, Step } from "../api/analytics";
import { compact, count, money } from "../ui/format";
import { Bars } from "./charts/Bars";
import { Figure } from "./charts/Figure";
import { sum, totals } from "./charts/stack";
import { share } from "./labels";
import { longName, periodSpan, shortName } from "./periods";
import { isoRange, type Selection, toThreads } from "./selection";
import { type TimeSeries, timeSeries } from "./timeSeries";

interface Measure {
  readonly title: string;
  readonly value: (stat: Stat) => number;
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
  readonly whole: boolean;
}

/** $0, $0.025, $0.10, $2.50, $1.2K */
const axisMoney = (value: number) =>
  value >= 1000 ? `$${compact(value)}` : `$${Number(value.toPrecision(3))}`.replace(/\.\d$/, "$&0");

export const OVER_TIME: readonly Measure[] = [
  { title: "Cost over time", value: (it) => it.cost ?? 0, format: money, tick: axisMoney, whole: false },
  {
    title: "Tokens over time",
    value: (it) => it.inputTokens + it.outputTokens,
    format: compact,
    tick: compact,
    whole: true,
  },
  { title: "Runs over time", value: (it) => it.runs, format: count, tick: compact, whole: true },
];

interface Props {
  readonly selection: Selection;
  readonly stats: readonly Stat[];
  readonly periods: readonly string[];
  readonly measure: Measure;
}

/** One measure by period, split by model, agent or project. */
export function OverTime({ selection, stats, periods, measure }: Props) {
  const id = useId();
  const { step, split, span, filters } = selection;
  const over = timeSeries(stats, periods, split, measure.value);
  const sums = totals(over.series, periods.length);
  const link = (period: string, series?: string) => {
    const filtered: StatFilters = { ...filters, ...isoRange(periodSpan(step, period, span)) };
    const key = series === undefined ? undefined : over.keyOf(series);
    const named = key === undefined ? {} : { [split]: key };
    return toThreads({ ...filtered, ...named, ids: over.idsOf(period, series) });
  };
  const points = periods.map((period, column) => {
    const total = sums[column] ?? 0;
    if (!total) return null;
    const parts = over.series.flatMap(({ name, values }, series) =>
      values[column] ? [{ name, text: measure.format(values[column]), series }] : [],
    );
    const lines = parts.length > 1 ? [...parts, { name: "Total", text: measure.format(total) }] : parts;
    return { label: longName(step, period), lines, href: link(period) };
  });
  const columns = [
    {
      label: step === "day" ? "Day" : step === "week" ? "Week of" : "Month",
      value: (column: number) => periods[column],
    },
    ...over.series.map(({ name, values }) => ({
      label: name,
      number: true,
      value: (column: number) => values[column] ?? 0,
      text: (column: number) => measure.format(values[column] ?? 0),
      href: (column: number) => (values[column] ? link(periods[column] ?? "", name) : undefined),
    })),
    {
      label: "Total",
      number: true,
      value: (column: number) => sums[column] ?? 0,
      text: (column: number) => measure.format(sums[column] ?? 0),
      href: (column: number) => (sums[column] ? link(periods[column] ?? "") : undefined),
    },
  ];
  const summary = summaryOf(over, sums, step, split, measure);
  return (
    <Figure
      id={id}
      title={measure.title}
      summary={summary}
      legend={over.series.map(({ name }) => name)}
      columns={columns}
      rows={periods.map((_, column) => column)}
      keyOf={(column) => periods[column] ?? ""}
    >
      <Bars
        id={id}
        name={measure.title}
        summary={`${measure.title}. ${summary}`}
        labels={periods.map((period) => shortName(step, period))}
        series={over.series}
        points={points}
        format={measure.tick}
        whole={measure.whole}
      />
    </Figure>
  );
}

function summaryOf(
  over: TimeSeries,
  sums: readonly number[],
  step: Step,
  split: Split,
  measure: Measure,
): string {
  const total = sum(sums);
  if (!total) return "No data in this period.";
  const most = sums.reduce((best, value, index) => (value > (sums[best] ?? 0) ? index : best), 0);
  const largest = over.series[0];
  const part =
    largest && over.series.length > 1
      ? ` Largest ${split}: ${largest.name} (${share(sum(largest.values), total)}).`
      : "";
  const period = longName(step, over.periods[most] ?? "");
  return `Total: ${measure.format(total)}. Peak: ${measure.format(sums[most] ?? 0)} (${period}).${part}`;
}
