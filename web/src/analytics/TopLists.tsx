import { useMemo, useState } from "react";
import type { RunOrder, RunStat, ThreadOrder, ThreadStat } from "../api/analytics";
import { ButtonGroup } from "../ui/ButtonGroup";
import { compact, count, duration, money } from "../ui/format";
import { toRun, toThread } from "../ui/routing";
import { Failure } from "../ui/States";
import { Card } from "./Card";
import { labelOf, titleOf } from "./labels";
import { MAX_THREADS, useRunStats, useThreadStats } from "./queries";
import { hrefWith, type Selection } from "./selection";
import type { Column } from "./Table";

const MAX_RUNS = 20;
const RUN_ORDERS = [
  { value: "cost", label: "Cost" },
  { value: "duration", label: "Time" },
  { value: "tokens", label: "Tokens" },
] as const;
const THREAD_ORDERS = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "errors", label: "Errors" },
  { value: "messages", label: "Messages" },
] as const;

const RUN_COLUMNS: Column<RunStat>[] = [
  {
    label: "Run of",
    value: (run) => titleOf({ id: run.threadId, title: run.title }),
    href: (run) => toThread(run.threadId),
    title: () => "Open the thread",
  },
  {
    label: "Cost",
    value: (run) => run.cost,
    text: (run) => (run.cost === undefined ? "–" : money(run.cost)),
    href: (run) => toRun(run.id),
    title: () => "Replay the run",
    number: true,
    bar: true,
  },
  {
    label: "Time",
    value: (run) => run.seconds,
    text: (run) => (run.seconds === undefined ? "–" : duration(run.seconds)),
    href: (run) => toRun(run.id),
    title: () => "Replay the run",
    number: true,
    bar: true,
  },
  {
    label: "Tokens",
    value: (run) => run.inputTokens + run.outputTokens,
    text: (run) => compact(run.inputTokens + run.outputTokens),
    href: (run) => toRun(run.id),
    title: () => "Replay the run",
    number: true,
  },
  { label: "Status", value: (run) => run.status },
  { label: "Agent", value: (run) => labelOf("agent", run.agent) },
  { label: "Model", value: (run) => labelOf("model", run.model) },
];

/** The slowest and the most expensive runs. */
export function TopRuns({ selection }: { selection: Selection }) {
  const [order, setOrder] = useState<RunOrder>("cost");
  const runQuery = useRunStats(order, selection.filters, MAX_RUNS);
  if (runQuery.error) return <Failure error={runQuery.error} retry={() => void runQuery.refetch()} />;
  return (
    <Card
      title="Top runs"
      columns={RUN_COLUMNS}
      rows={runQuery.data ?? []}
      keyOf={(run) => run.id}
      empty={runQuery.isPending ? "Loading …" : "No runs in this period."}
    >
      <ButtonGroup label="Order of top runs" value={order} choices={RUN_ORDERS} onChange={setOrder} />
    </Card>
  );
}

/** The most expensive sessions. */
export function TopThreads({ selection }: { selection: Selection }) {
  const [order, setOrder] = useState<ThreadOrder>("cost");
  const runQuery = useThreadStats(order, selection.filters, MAX_THREADS);
  const columns = useMemo(() => threadColumns(selection.query), [selection.query]);
  if (runQuery.error) return <Failure error={runQuery.error} retry={() => void runQuery.refetch()} />;
  return (
    <Card
      title="Top threads"
      columns={columns}
      rows={runQuery.data ?? []}
      keyOf={(thread) => thread.id}
      empty={runQuery.isPending ? "Loading …" : "No threads in this period."}
    >
      <ButtonGroup label="Order of top threads" value={order} choices={THREAD_ORDERS} onChange={setOrder} />
    </Card>
  );
}

function threadColumns(query: URLSearchParams): Column<ThreadStat>[] {
  const number = (
    label: string,
    value: (thread: ThreadStat) => number | undefined,
    format: (value: number) => string,
    bar = false,
  ): Column<ThreadStat> => ({
    label,
    value,
    text: (thread) => {
      const known = value(thread);
      return known === undefined ? "–" : format(known);
    },
    href: (thread) => toThread(thread.id),
    number: true,
    bar,
  });
  return [
    {
      label: "Thread",
      value: titleOf,
      href: (thread) => toThread(thread.id),
      title: () => "Open the thread",
    },
    number("Cost", (thread) => thread.cost, money, true),
    {
      ...number("Tokens", (thread) => thread.inputTokens + thread.outputTokens, compact, true),
      href: (thread) => hrefWith(query, { thread: thread.id }),
      title: () => "Show its context growth",
    },
    number("Messages", (thread) => thread.messages, count),
    number("Runs", (thread) => thread.runs, count),
    number("Calls", (thread) => thread.toolCalls, count),
    number("Errors", (thread) => thread.toolErrors, count),
    { label: "Agent", value: (thread) => labelOf("agent", thread.agent) },
    { label: "Project", value: (thread) => labelOf("project", thread.project) },
  ];
}
