import { useId } from "react";
import type { GrowthPoint, ThreadStat } from "../api/analytics";
import { compact, count, moment, money, plural } from "../ui/format";
import { go, toThread } from "../ui/routing";
import { Failure } from "../ui/States";
import { Figure } from "./charts/Figure";
import { Lines } from "./charts/Lines";
import styles from "./Growth.module.css";
import { dropsIn, ownPoints, thinned } from "./growth";
import { share, titleOf } from "./labels";
import { MAX_THREADS, useGrowth, useThreadStats } from "./queries";
import { Reasoning } from "./Reasoning";
import { Section } from "./Section";
import { hrefWith, type Selection } from "./selection";
import type { Column } from "./Table";

const MAX_POINTS = 120;
const MAX_CHOICES = 30;

/** The growth of a session's context. */
export function Growth({ selection }: { selection: Selection }) {
  const threads = useThreadStats("cost", selection.filters, MAX_THREADS);
  const largest = (threads.data ?? []).filter((thread) => thread.inputTokens + thread.outputTokens > 0);
  const chosen = selection.thread ?? largest[0]?.id;
  const growth = useGrowth(chosen);
  return (
    <Section
      name="growth"
      target={selection.query.get("chart")}
      controls={<Chooser selection={selection} chosen={chosen} threads={largest.slice(0, MAX_CHOICES)} />}
    >
      <div className={styles.growth}>
        {growth.error ? (
          <Failure error={growth.error} retry={() => void growth.refetch()} />
        ) : growth.isPending && (chosen || threads.isPending) ? (
          <div className={styles.blank} />
        ) : chosen && growth.data?.length ? (
          <GrowthChart threadId={chosen} points={growth.data} />
        ) : (
          <p className={styles.empty}>
            {chosen ? "This session has no usage data." : "No usage data in this period."}
          </p>
        )}
        <Reasoning selection={selection} />
      </div>
    </Section>
  );
}

interface ChooserProps {
  readonly selection: Selection;
  readonly chosen?: string;
  readonly threads: readonly ThreadStat[];
}

function Chooser({ selection, chosen, threads }: ChooserProps) {
  const id = useId();
  const known = threads.some((thread) => thread.id === chosen);
  return (
    <div className={styles.chooser}>
      <label htmlFor={id}>Session</label>
      <select
        id={id}
        value={chosen ?? ""}
        onChange={(event) => go(hrefWith(selection.query, { thread: event.target.value }), { replace: true })}
      >
        {chosen && !known && <option value={chosen}>{titleOf({ id: chosen })}</option>}
        {threads.map((thread) => (
          <option key={thread.id} value={thread.id}>
            {titleOf(thread)} · {compact(thread.inputTokens + thread.outputTokens)} tokens
          </option>
        ))}
      </select>
      {chosen && <a href={toThread(chosen)}>Open the session</a>}
    </div>
  );
}

function GrowthChart({ threadId, points }: { threadId: string; points: readonly GrowthPoint[] }) {
  const id = useId();
  const own = ownPoints(points);
  const drops = dropsIn(own);
  const reached = thinned(own.length, MAX_POINTS, drops);
  const most = own.reduce((largest, point) => Math.max(largest, point.inputTokens), 0);
  const last = points.at(-1);
  const summary = [
    `${plural(points.length, "response")}, at most ${compact(most)} tokens of context`,
    drops.length ? `compacted ${plural(drops.length, "time")} (dashed)` : "",
    last ? `${compact(last.totalTokens)} tokens in total` : "",
    last?.totalCost === undefined ? "" : money(last.totalCost),
  ];
  const sentence = `${summary.filter(Boolean).join("; ")}.`;
  const linked = ({ messageId, seq }: GrowthPoint) =>
    toThread(threadId, seq === undefined ? null : messageId);
  return (
    <Figure
      id={id}
      title="Context by response"
      level={3}
      summary={sentence}
      legend={[
        { name: "Input, including cached", colour: 0 },
        { name: "Cached", colour: 1 },
        { name: "Output", colour: 2 },
      ]}
      lines
      columns={columnsOf(linked)}
      rows={points}
      keyOf={(point) => `${points.indexOf(point)}`}
    >
      <Lines
        name="Context by response"
        summary={`Context by response. ${sentence}`}
        labels={own.map((_, index) => count(index + 1))}
        series={[
          { name: "Input", values: own.map((point) => point.inputTokens) },
          { name: "Cached", values: own.map((point) => point.cachedInputTokens) },
          { name: "Output", values: own.map((point) => point.outputTokens) },
        ]}
        points={own.map((point, index) =>
          reached.has(index)
            ? {
                label: `${drops.includes(index) ? "Compacted: r" : "R"}esponse ${count(index + 1)}, ${moment(point.time)}`,
                href: linked(point),
                lines: [
                  { name: "Input", text: count(point.inputTokens) },
                  { name: "Cached", text: share(point.cachedInputTokens, point.inputTokens) },
                  { name: "Output", text: count(point.outputTokens) },
                  { name: "Cost", text: point.cost === undefined ? "unknown" : money(point.cost) },
                ],
              }
            : null,
        )}
        format={compact}
        drops={drops}
        whole
      />
    </Figure>
  );
}

function columnsOf(linked: (point: GrowthPoint) => string): Column<GrowthPoint>[] {
  const number = (label: string, value: (point: GrowthPoint) => number): Column<GrowthPoint> => ({
    label,
    value,
    text: (point) => count(value(point)),
    href: linked,
    number: true,
  });
  const cost = (label: string, value: (point: GrowthPoint) => number | undefined): Column<GrowthPoint> => ({
    label,
    value,
    text: (point) => {
      const known = value(point);
      return known === undefined ? "–" : money(known);
    },
    number: true,
  });
  return [
    { label: "Time", value: (point) => point.time, text: (point) => moment(point.time), href: linked },
    number("Input", (point) => point.inputTokens),
    number("Cached", (point) => point.cachedInputTokens),
    number("Output", (point) => point.outputTokens),
    number("Reasoning", (point) => point.reasoningTokens),
    cost("Cost", (point) => point.cost),
    number("Total tokens", (point) => point.totalTokens),
    cost("Total cost", (point) => point.totalCost),
    { label: "Model", value: (point) => point.model ?? "" },
    { label: "Agent", value: (point) => (point.seq === undefined ? (point.agent ?? "sub-agent") : "own") },
  ];
}
