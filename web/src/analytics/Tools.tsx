import { useMemo } from "react";
import type { ToolStat } from "../api/analytics";
import { count, duration } from "../ui/format";
import { Card } from "./Card";
import { labelOf, share } from "./labels";
import { type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

/** Calls, errors and durations by tool. */
export function Tools({ selection, stats }: { selection: Selection; stats: readonly ToolStat[] }) {
  const columns = useMemo(() => columnsOf(selection), [selection]);
  return (
    <Card
      title="Tools"
      columns={columns}
      rows={stats}
      keyOf={(stat) => stat.tool ?? ""}
      empty="No tool calls in this period."
    />
  );
}

function columnsOf({ filters }: Selection): Column<ToolStat>[] {
  const all = (stat: ToolStat) => toThreads({ ...filters, tool: stat.tool, ids: stat.threadIds });
  const failing = (stat: ToolStat) =>
    toThreads({ ...filters, tool: stat.tool, errors: true, ids: stat.failingThreadIds });
  const number = (label: string, value: (stat: ToolStat) => number, bar = false, href = all) => ({
    label,
    value,
    text: (stat: ToolStat) => count(value(stat)),
    number: true,
    bar,
    href: (stat: ToolStat) => (value(stat) ? href(stat) : undefined),
  });
  const time = (label: string, value: (stat: ToolStat) => number | undefined, bar = false) => ({
    label,
    value,
    text: (stat: ToolStat) => {
      const seconds = value(stat);
      return seconds === undefined ? "–" : duration(seconds);
    },
    number: true,
    bar,
    href: (stat: ToolStat) => (value(stat) === undefined ? undefined : all(stat)),
  });
  return [
    {
      label: "Tool",
      value: (stat) => labelOf("tool", stat.tool),
      href: (stat) => (stat.tool ? all(stat) : undefined),
    },
    number("Calls", (stat) => stat.calls, true),
    number("Errors", (stat) => stat.errors, true, failing),
    {
      label: "Failed",
      value: (stat) => (stat.calls ? stat.errors / stat.calls : 0),
      text: (stat) => share(stat.errors, stat.calls),
      number: true,
      href: (stat) => (stat.errors ? failing(stat) : undefined),
    },
    number("Denied", (stat) => stat.denied),
    number("Interrupted", (stat) => stat.interrupted),
    time("Median", (stat) => stat.medianSeconds),
    time("95%", (stat) => stat.p95Seconds),
    time("Longest", (stat) => stat.longestSeconds),
    time("Total", (stat) => stat.totalSeconds, true),
    number("Threads", (stat) => stat.threads),
  ];
}
