import { useId } from "react";
import type { Stat } from "../api/analytics";
import { count } from "../ui/format";
import { Figure } from "./charts/Figure";
import { Lines } from "./charts/Lines";
import { sum } from "./charts/stack";
import { share } from "./labels";
import { longName, periodSpan, periodsIn, shortName } from "./periods";
import { usePeriods } from "./queries";
import { isoRange, type Selection, toThreads } from "./selection";
import { groupByPeriod, threadIdsOf } from "./timeSeries";

/** The share of reasoning in the output, and of cached tokens in the input, over time. */
export function Reasoning({ selection }: { selection: Selection }) {
  const id = useId();
  const { step, span, filters } = selection;
  const query = usePeriods(selection);
  const stats = query.data ?? [];
  const isLoading = query.isPending;
  const periods = periodsIn(
    step,
    span,
    stats.map(({ key }) => key[0] ?? ""),
    new Date(),
  );
  const byPeriod = groupByPeriod(stats);
  const rows = periods.map((period) => {
    const stats = byPeriod.get(period) ?? [];
    const of = (value: (stat: Stat) => number) => sum(stats.map(value));
    const [reasoning, output] = [of((it) => it.reasoningTokens), of((it) => it.outputTokens)];
    const [cached, input] = [of((it) => it.cachedInputTokens), of((it) => it.inputTokens)];
    const filtered = { ...filters, ...isoRange(periodSpan(step, period, span)) };
    const href = toThreads({ ...filtered, ids: threadIdsOf(stats) });
    return { period, reasoning, output, cached, input, href };
  });
  type Row = (typeof rows)[number];
  const all = (value: (row: Row) => number) => sum(rows.map(value));
  const summary = all((row) => row.output)
    ? `${share(
        all((row) => row.reasoning),
        all((row) => row.output),
      )} of the output was reasoning; ${share(
        all((row) => row.cached),
        all((row) => row.input),
      )} of the input was read from cache.`
    : "No data in this period.";
  const percent = (part: number, whole: number) => (whole ? (part / whole) * 100 : Number.NaN);
  const tokens = (label: string, value: (row: Row) => number) => ({
    label,
    value,
    number: true,
    text: (row: Row) => count(value(row)),
    href: (row: Row) => (value(row) ? row.href : undefined),
  });
  return (
    <Figure
      id={id}
      title="Reasoning and cache"
      level={3}
      summary={summary}
      isLoading={isLoading}
      legend={[
        { name: "Reasoning, of the output", colour: 0 },
        { name: "Cached, of the input", colour: 1 },
      ]}
      lines
      columns={[
        {
          label: step === "month" ? "Month" : step === "week" ? "Week of" : "Day",
          value: (row) => row.period,
        },
        tokens("Reasoning tokens", (row) => row.reasoning),
        tokens("Output tokens", (row) => row.output),
        tokens("Cached tokens", (row) => row.cached),
        tokens("Input tokens", (row) => row.input),
      ]}
      rows={rows}
      keyOf={(row) => row.period}
    >
      <Lines
        name="Reasoning and cache"
        summary={`Reasoning and cache. ${summary}`}
        labels={periods.map((period) => shortName(step, period))}
        series={[
          { name: "Reasoning", values: rows.map((row) => percent(row.reasoning, row.output)) },
          { name: "Cached", values: rows.map((row) => percent(row.cached, row.input)) },
        ]}
        points={rows.map((row) =>
          row.input + row.output
            ? {
                label: longName(step, row.period),
                href: row.href,
                lines: [
                  { name: "Reasoning", text: share(row.reasoning, row.output) },
                  { name: "Cached", text: share(row.cached, row.input) },
                ],
              }
            : null,
        )}
        format={(value) => `${value}%`}
        least={100}
        whole
      />
    </Figure>
  );
}
