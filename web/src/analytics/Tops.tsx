import { useMemo, useState } from "react";
import type { RunOrder, RunStat, ThreadOrder, ThreadStat } from "../api/analytics";
import { compact, count, duration, money } from "../ui/format";
import { toRun, toThread } from "../ui/routing";
import { Failure } from "../ui/States";
import { Card } from "./Card";
import { Choice } from "./Choice";
import { nameOfKey, titleOf } from "./names";
import { changed, type Shown } from "./place";
import { MOST_THREADS, useRunStats, useThreadStats } from "./queries";
import type { Column } from "./Table";

const MOST_RUNS = 20;
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
    title: () => "Open the session",
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
  { label: "Agent", value: (run) => nameOfKey("agent", run.agent) },
  { label: "Model", value: (run) => nameOfKey("model", run.model) },
];

/** The slowest and the most expensive runs. */
export function TopRuns({ shown }: { shown: Shown }) {
  const [order, setOrder] = useState<RunOrder>("cost");
  const asked = useRunStats(order, shown.filters, MOST_RUNS);
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return (
    <Card
      title="Greatest runs"
      columns={RUN_COLUMNS}
      rows={asked.data ?? []}
      keyOf={(run) => run.id}
      empty={asked.isPending ? "Loading …" : "No runs in this time."}
    >
      <Choice label="Greatest runs by" value={order} choices={RUN_ORDERS} onChange={setOrder} />
    </Card>
  );
}

/** The sessions that took most. */
export function TopThreads({ shown }: { shown: Shown }) {
  const [order, setOrder] = useState<ThreadOrder>("cost");
  const asked = useThreadStats(order, shown.filters, MOST_THREADS);
  const columns = useMemo(() => threadColumns(shown.query), [shown.query]);
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return (
    <Card
      title="Greatest sessions"
      columns={columns}
      rows={asked.data ?? []}
      keyOf={(thread) => thread.id}
      empty={asked.isPending ? "Loading …" : "No sessions in this time."}
    >
      <Choice label="Greatest sessions by" value={order} choices={THREAD_ORDERS} onChange={setOrder} />
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
      label: "Session",
      value: titleOf,
      href: (thread) => toThread(thread.id),
      title: () => "Open the session",
    },
    number("Cost", (thread) => thread.cost, money, true),
    {
      ...number("Tokens", (thread) => thread.inputTokens + thread.outputTokens, compact, true),
      href: (thread) => changed(query, { thread: thread.id }),
      title: () => "Show how its context grew",
    },
    number("Messages", (thread) => thread.messages, count),
    number("Runs", (thread) => thread.runs, count),
    number("Calls", (thread) => thread.toolCalls, count),
    number("Errors", (thread) => thread.toolErrors, count),
    { label: "Agent", value: (thread) => nameOfKey("agent", thread.agent) },
    { label: "Project", value: (thread) => nameOfKey("project", thread.project) },
  ];
}
