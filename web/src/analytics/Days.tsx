import { useId, useMemo } from "react";
import type { Stat, StatFilters } from "../api/analytics";
import { count, plural } from "../ui/format";
import { LevelLegend } from "./charts/Cells";
import { Figure } from "./charts/Figure";
import { Heatmap } from "./charts/Heatmap";
import { formatDay, longName, periodSpan } from "./periods";
import { useDays } from "./queries";
import { isoRange, toThreads } from "./selection";
import type { Column } from "./Table";

interface Props {
  /** By agent, project and model; the time is a year. */
  readonly filters?: StatFilters;
  /** The last day of the year; by default today. */
  readonly last?: string;
  readonly level?: 2 | 3;
}

/** The sessions of each day of a year, as a heatmap. Every day leads to its sessions. */
export function Days({ filters = {}, last = formatDay(new Date()), level }: Props) {
  const id = useId();
  const stats = useDays(last, filters).data;
  const days = useMemo(() => new Map((stats ?? []).map((stat) => [stat.key[0] ?? "", stat])), [stats]);
  const values = useMemo(() => new Map([...days].map(([day, { threads }]) => [day, threads])), [days]);
  const hrefOf = (day: string) =>
    toThreads({ ...filters, ...isoRange(periodSpan("day", day, {})), ids: days.get(day)?.threadIds });
  const busiest = (stats ?? []).reduce<Stat | undefined>(
    (best, stat) => (best && best.threads >= stat.threads ? best : stat),
    undefined,
  );
  const summary = busiest
    ? `Active on ${plural(days.size, "day")}. Most: ${plural(busiest.threads, "session")} (${longName("day", busiest.key[0] ?? "")}).`
    : stats
      ? "No sessions in this year."
      : " ";
  const columns: Column<Stat>[] = [
    { label: "Day", value: (stat) => stat.key[0], href: (stat) => hrefOf(stat.key[0] ?? "") },
    { label: "Sessions", value: (stat) => stat.threads, text: (stat) => count(stat.threads), number: true },
    { label: "Messages", value: (stat) => stat.messages, text: (stat) => count(stat.messages), number: true },
  ];
  return (
    <Figure
      id={id}
      title="Sessions by day"
      level={level}
      summary={summary}
      legend={<LevelLegend />}
      columns={columns}
      rows={stats ?? []}
      keyOf={(stat) => stat.key[0] ?? ""}
    >
      <Heatmap
        name="Sessions by day"
        summary={`Sessions by day. ${summary}`}
        last={last}
        values={values}
        text={(value) => (value ? plural(value, "session") : "no sessions")}
        hrefOf={hrefOf}
      />
    </Figure>
  );
}
