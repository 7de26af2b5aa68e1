import { useMemo } from "react";
import type { Split, Stat } from "../api/analytics";
import { shortProject } from "../threads/rows";
import { compact, count, money } from "../ui/format";
import { Card } from "./Card";
import { colourIn, type Order, orderOf } from "./colours";
import { costs, failureRate, numbers, percent, time } from "./columns";
import { labelOf } from "./labels";
import { useStats } from "./queries";
import { hrefWith, type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

const TITLES: Record<Split, string> = { project: "By project", model: "By model", agent: "By agent" };

/** Totals by project, model or agent. Names are links to filter the page, numbers are links to sessions. */
export function Breakdown({ selection, split }: { selection: Selection; split: Split }) {
  const query = useStats([split], selection.filters);
  const stats = query.data;
  const order = useMemo(() => orderOf(split, stats ?? []), [split, stats]);
  const columns = useMemo(() => columnsOf(selection, split, order), [selection, split, order]);
  return (
    <Card
      title={TITLES[split]}
      columns={columns}
      rows={stats}
      error={query.error}
      retry={() => void query.refetch()}
      keyOf={(stat) => stat.key[0] ?? ""}
      empty="No data in this period."
    />
  );
}

/** Nothing if there is nothing to divide by. */
const ratio = (part: number | undefined, whole: number | undefined): number | undefined =>
  part === undefined || !whole ? undefined : part / whole;

function columnsOf(selection: Selection, split: Split, order: Order): Column<Stat>[] {
  const { query, filters } = selection;
  const name = (stat: Stat) => labelOf(split, stat.key[0]);
  const toList = (errors: boolean) => (stat: Stat) =>
    toThreads({ ...filters, [split]: stat.key[0] ?? undefined, ids: stat.threadIds, errors });
  const number = (
    label: string,
    value: (stat: Stat) => number | undefined,
    format = count,
    more: Partial<Column<Stat>> = {},
  ) =>
    numbers(label, value, format, {
      href: (stat) => (value(stat) ? toList(false)(stat) : undefined),
      ...more,
    });
  const failures = { href: (stat: Stat) => (stat.toolErrors ? toList(true)(stat) : undefined) };
  const tokens = [
    number("Tokens in", (it) => it.inputTokens, compact),
    number("Tokens out", (it) => it.outputTokens, compact),
    number("Cached", (it) => ratio(it.cachedInputTokens, it.inputTokens), percent, {
      about: "The part of the input that was read from the cache",
    }),
  ];
  const calls = [number("Calls", (it) => it.toolCalls), failureRate<Stat>(failures)];
  return [
    {
      label: split[0]?.toUpperCase() + split.slice(1),
      value: name,
      text: (stat) => (split === "project" ? shortProject(name(stat)) : name(stat)),
      colour: (stat) => colourIn(order, name(stat)),
      href: (stat) => (stat.key[0] ? hrefWith(query, { [split]: stat.key[0] }) : undefined),
      title: (stat) => `Only ${name(stat)}`,
    },
    costs({ bar: true, href: (stat) => (stat.cost ? toList(false)(stat) : undefined) }),
    number("Sessions", (it) => it.threads),
    ...(split === "model"
      ? [
          number("Responses", (it) => it.responses),
          ...tokens,
          number("Reasoning", (it) => ratio(it.reasoningTokens, it.outputTokens), percent, {
            about: "The part of the output that was reasoning",
          }),
          number("Cost per turn", (it) => ratio(it.cost, it.runs), money),
          number(
            "Tokens/s",
            (it) => ratio(it.outputTokens, it.seconds),
            (value) => value.toFixed(value < 10 ? 1 : 0),
            {
              about: "Output tokens per second of active time, which includes tool calls",
            },
          ),
          ...calls,
          number(
            "Incomplete",
            (it) => ratio((it.failedRuns ?? 0) + (it.interruptedRuns ?? 0), it.runs),
            percent,
            {
              about: "The part of the turns that failed, or were interrupted or cancelled",
            },
          ),
        ]
      : [
          number("Turns", (it) => it.runs),
          number("Active time", (it) => it.seconds, time),
          ...tokens,
          ...calls,
        ]),
  ];
}
