import { useMemo, useState } from "react";
import type { RunOrder, RunStat } from "../api/analytics";
import { AgentMark } from "../ui/AgentMark";
import { ButtonGroup } from "../ui/ButtonGroup";
import { ago, compact } from "../ui/format";
import { toRun, toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { Card } from "./Card";
import { colourIn, type Order } from "./colours";
import { costs, numbers, time } from "./columns";
import { labelOf, titleOf } from "./labels";
import { useOrder, useRunStats } from "./queries";
import type { Selection } from "./selection";
import type { Column } from "./Table";

const MAX_RUNS = 50;
const ORDERS = [
  { value: "cost", label: "Cost" },
  { value: "tokens", label: "Tokens" },
  { value: "duration", label: "Time" },
] as const;

/** The turns that consumed the most, each with its question. */
export function Turns({ selection }: { selection: Selection }) {
  const [order, setOrder] = useState<RunOrder>("cost");
  const query = useRunStats(order, selection.filters, MAX_RUNS);
  const models = useOrder("model", selection);
  const columns = useMemo(() => columnsOf(models), [models]);
  return (
    <Card
      title="By turn"
      columns={columns}
      rows={query.data}
      error={query.error}
      retry={() => void query.refetch()}
      keyOf={(run) => run.id}
      empty="No turns in this period."
    >
      <ButtonGroup label="Order of turns" value={order} choices={ORDERS} onChange={setOrder} />
    </Card>
  );
}

const sessionOf = (run: RunStat) => titleOf({ id: run.threadId, title: run.title });

function columnsOf(models: Order): Column<RunStat>[] {
  const model = (run: RunStat) => labelOf("model", run.model);
  const replay = { href: (run: RunStat) => toRun(run.id), title: () => "Replay" };
  return [
    {
      label: "Question",
      value: (run) => visible(run.question ?? "") || sessionOf(run),
      mark: (run) => <AgentMark agent={run.agent} />,
      href: (run) => toThread(run.threadId, run.messageId),
    },
    { label: "Session", wide: true, value: sessionOf, href: (run) => toThread(run.threadId) },
    costs({ ...replay, bar: true }),
    numbers("Tokens", (run) => run.inputTokens + run.outputTokens, compact, replay),
    numbers("Time", (run) => run.seconds, time, replay),
    { label: "Model", value: model, colour: (run) => colourIn(models, model(run)) },
    {
      label: "Started",
      value: (run) => run.createdAt ?? "",
      text: (run) => (run.createdAt ? ago(run.createdAt) : "–"),
    },
  ];
}
