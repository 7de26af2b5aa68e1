import { useMemo } from "react";
import type { ToolStat } from "../api/analytics";
import { count } from "../ui/format";
import { Card } from "./Card";
import { numbers, percent, time } from "./columns";
import { labelOf } from "./labels";
import { useToolStats } from "./queries";
import { type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

/** Calls, failures and durations by tool. */
export function Tools({ selection }: { selection: Selection }) {
  const query = useToolStats(selection.filters);
  const columns = useMemo(() => columnsOf(selection), [selection]);
  return (
    <Card
      title="By tool"
      columns={columns}
      rows={query.data}
      error={query.error}
      retry={() => void query.refetch()}
      keyOf={(stat) => stat.tool ?? ""}
      empty="No tool calls in this period."
    />
  );
}

function columnsOf({ filters }: Selection): Column<ToolStat>[] {
  const all = (stat: ToolStat) => toThreads({ ...filters, tool: stat.tool, ids: stat.threadIds });
  const failing = (stat: ToolStat) =>
    toThreads({ ...filters, tool: stat.tool, errors: true, ids: stat.failingThreadIds });
  const number = (
    label: string,
    value: (stat: ToolStat) => number,
    href = all,
    more: Partial<Column<ToolStat>> = {},
  ) => numbers(label, value, count, { href: (stat) => (value(stat) ? href(stat) : undefined), ...more });
  const seconds = (label: string, value: (stat: ToolStat) => number | undefined, about?: string) =>
    numbers(label, value, time, {
      href: (stat) => (value(stat) === undefined ? undefined : all(stat)),
      about,
    });
  return [
    {
      label: "Tool",
      value: (stat) => labelOf("tool", stat.tool),
      href: (stat) => (stat.tool ? all(stat) : undefined),
    },
    number("Calls", (stat) => stat.calls, all, { bar: true }),
    number("Failures", (stat) => stat.errors, failing),
    numbers("Failed", (stat) => (stat.calls ? stat.errors / stat.calls : undefined), percent, {
      about: "The part of the calls that failed",
      href: (stat) => (stat.errors ? failing(stat) : undefined),
      bar: "share",
      bad: true,
    }),
    number("Denied", (stat) => stat.denied),
    number("Interrupted", (stat) => stat.interrupted),
    seconds("Median", (stat) => stat.medianSeconds, "Half of the calls were not longer"),
    seconds("95%", (stat) => stat.p95Seconds, "95% of the calls were not longer"),
    seconds("Longest", (stat) => stat.longestSeconds),
    seconds("Total time", (stat) => stat.totalSeconds),
    number("Sessions", (stat) => stat.threads),
  ];
}
