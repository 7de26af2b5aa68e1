import { useMemo, useState } from "react";
import type { ThreadOrder, ThreadStat } from "../api/analytics";
import { shortProject } from "../threads/rows";
import { AgentMark } from "../ui/AgentMark";
import { ButtonGroup } from "../ui/ButtonGroup";
import { compact, count } from "../ui/format";
import { toThread } from "../ui/routing";
import { Card } from "./Card";
import { colourIn, type Order } from "./colours";
import { costs, failureRate, numbers, time } from "./columns";
import { labelOf, titleOf } from "./labels";
import { MAX_THREADS, useOrder, useThreadStats } from "./queries";
import { hrefWith, type Selection } from "./selection";
import type { Column } from "./Table";

const ORDERS = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "duration", label: "Time" },
  { value: "errors", label: "Failures" },
  { value: "messages", label: "Messages" },
] as const;

/** The sessions that consumed the most. */
export function Sessions({ selection }: { selection: Selection }) {
  const [order, setOrder] = useState<ThreadOrder>("cost");
  const query = useThreadStats(order, selection.filters, MAX_THREADS);
  const projects = useOrder("project", selection);
  const columns = useMemo(() => columnsOf(selection.query, projects), [selection.query, projects]);
  return (
    <Card
      title="By session"
      columns={columns}
      rows={query.data}
      error={query.error}
      retry={() => void query.refetch()}
      keyOf={(thread) => thread.id}
      empty="No sessions in this period."
    >
      <ButtonGroup label="Order of sessions" value={order} choices={ORDERS} onChange={setOrder} />
    </Card>
  );
}

function columnsOf(query: URLSearchParams, projects: Order): Column<ThreadStat>[] {
  const project = (thread: ThreadStat) => labelOf("project", thread.project);
  const open = { href: (thread: ThreadStat) => toThread(thread.id) };
  return [
    {
      label: "Session",
      value: titleOf,
      mark: (thread) => <AgentMark agent={thread.agent} />,
      href: (thread) => toThread(thread.id),
    },
    {
      label: "Project",
      wide: true,
      value: project,
      text: (thread) => shortProject(project(thread)),
      colour: (thread) => colourIn(projects, project(thread)),
      href: (thread) => (thread.project ? hrefWith(query, { project: thread.project }) : undefined),
      title: (thread) => `Only ${project(thread)}`,
    },
    costs({ ...open, bar: true }),
    numbers("Tokens", (thread) => thread.inputTokens + thread.outputTokens, compact, {
      href: (thread) => hrefWith(query, { thread: thread.id, chart: "growth" }),
      title: () => "Show its context growth",
    }),
    numbers("Active time", (thread) => thread.seconds, time, open),
    numbers("Turns", (thread) => thread.runs, count, open),
    numbers("Messages", (thread) => thread.messages, count, open),
    numbers("Calls", (thread) => thread.toolCalls, count, open),
    numbers("Failures", (thread) => thread.toolErrors, count, open),
    failureRate(),
  ];
}
