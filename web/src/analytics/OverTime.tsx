import { useId } from "react";
import type { Split, Stat, StatFilters, Step } from "../api/analytics";
import { shortProject } from "../threads/rows";
import { compact, count, duration, money } from "../ui/format";
import { Bars } from "./charts/Bars";
import { Figure } from "./charts/Figure";
import { ALL, movingAverage, OTHER, type Series, sum, totals } from "./charts/stack";
import type { Order } from "./colours";
import { share } from "./labels";
import { longName, periodSpan, shortName } from "./periods";
import { isoRange, type Selection, toThreads } from "./selection";
import { type TimeSeries, timeSeries } from "./timeSeries";

export interface Measure {
  readonly title: string;
  readonly value: (stat: Stat) => number;
  readonly format: (value: number) => string;
  readonly tick: (value: number) => string;
  readonly whole: boolean;
  /** Its values cannot be added up: a session can have several models, agents and periods. */
  readonly distinct?: boolean;
}

/** 0, 30 min, 2 h, 2.5 h */
const axisTime = (hours: number) =>
  hours === 0 ? "0" : hours < 1 ? `${Math.round(hours * 60)} min` : `${compact(hours)} h`;

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
  {
    title: "Sessions over time",
    value: (it) => it.threads,
    format: count,
    tick: compact,
    whole: true,
    distinct: true,
  },
  {
    title: "Active hours over time",
    value: (it) => (it.seconds ?? 0) / 3600,
    format: (hours) => (hours ? duration(hours * 3600) : "0 min"),
    tick: axisTime,
    whole: false,
  },
];

/** The number of periods of the moving average. */
export const AVERAGED: Readonly<Record<Step, number>> = { day: 7, week: 4, month: 3 };

interface Props {
  readonly selection: Selection;
  /** By period and by what they are split. */
  readonly stats: readonly Stat[];
  /** The sum of its values in all selected time, if it is not the sum of the columns. */
  readonly total?: number;
  readonly order: Order;
  readonly isLoading: boolean;
  readonly periods: readonly string[];
  readonly measure: Measure;
}

/** One measure by period, split by model, agent or project, with its moving average. */
export function OverTime({ selection, stats, total, order, isLoading, periods, measure }: Props) {
  const id = useId();
  const { step, split, span, filters } = selection;
  const all = timeSeries(stats, periods, split, order, measure.value);
  const over = measure.distinct ? { ...all, series: all.series.map(asWhole) } : all;
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
  const summary = summaryOf(over, sums, step, split, measure, total);
  return (
    <Figure
      id={id}
      title={measure.title}
      level={3}
      summary={summary}
      isLoading={isLoading}
      legend={over.series.map(({ name, colour = 0 }) => ({ name, colour }))}
      hideLegend
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
        line={movingAverage(sums, AVERAGED[step])}
      />
    </Figure>
  );
}

/** The series of all, which is no part of anything. */
const asWhole = (series: Series): Series => ({ ...series, name: "Sessions", colour: ALL });

function summaryOf(
  over: TimeSeries,
  sums: readonly number[],
  step: Step,
  split: Split,
  measure: Measure,
  known: number | undefined,
): string {
  const total = known ?? sum(sums);
  if (!total) return "No data in this period.";
  const most = sums.reduce((best, value, index) => (value > (sums[best] ?? 0) ? index : best), 0);
  const largest = over.series.reduce<Series | undefined>(
    (best, one) => (one.name !== OTHER && (!best || sum(one.values) > sum(best.values)) ? one : best),
    undefined,
  );
  const part =
    largest && over.series.length > 1 && !measure.distinct
      ? ` Largest ${split}: ${shortProject(largest.name)} (${share(sum(largest.values), total)}).`
      : "";
  const period = longName(step, over.periods[most] ?? "");
  return `Total: ${measure.format(total)}. Peak: ${measure.format(sums[most] ?? 0)} (${period}).${part}`;
}
