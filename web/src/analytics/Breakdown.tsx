import { useMemo } from "react";
import type { Split, Stat } from "../api/analytics";
import { compact, count, money } from "../ui/format";
import { Card } from "./Card";
import { labelOf, share } from "./labels";
import { hrefWith, type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

const TITLES: Record<Split, string> = { project: "By project", model: "By model", agent: "By agent" };

/** Totals by project, model or agent. Names are links to filter the page, numbers are links to sessions. */
export function Breakdown({
  selection,
  split,
  stats,
}: {
  selection: Selection;
  split: Split;
  stats: readonly Stat[];
}) {
  const columns = useMemo(() => columnsOf(selection, split), [selection, split]);
  return (
    <Card
      title={TITLES[split]}
      columns={columns}
      rows={stats}
      keyOf={(stat) => stat.key[0] ?? ""}
      empty="No data in this period."
    />
  );
}

function columnsOf({ query, filters }: Selection, split: Split): Column<Stat>[] {
  const href = (stat: Stat, errors = false) =>
    toThreads({ ...filters, [split]: stat.key[0] ?? undefined, ids: stat.threadIds, errors });
  const number = (
    label: string,
    value: (stat: Stat) => number,
    text: (stat: Stat) => string,
    bar = false,
  ) => ({
    label,
    value,
    text,
    number: true,
    bar,
    href: (stat: Stat) => (value(stat) ? href(stat) : undefined),
  });
  return [
    {
      label: split[0]?.toUpperCase() + split.slice(1),
      value: (stat) => labelOf(split, stat.key[0]),
      href: (stat) => (stat.key[0] ? hrefWith(query, { [split]: stat.key[0] }) : undefined),
      title: (stat) => `Only ${labelOf(split, stat.key[0])}`,
    },
    number(
      "Cost",
      (it) => it.cost ?? 0,
      (it) => (it.cost === undefined ? "–" : money(it.cost)),
      true,
    ),
    number(
      "Threads",
      (it) => it.threads,
      (it) => count(it.threads),
    ),
    number(
      "Runs",
      (it) => it.runs,
      (it) => count(it.runs),
    ),
    ...(split === "model"
      ? []
      : [
          number(
            "Messages",
            (it) => it.messages,
            (it) => count(it.messages),
          ),
        ]),
    number(
      "Tokens in",
      (it) => it.inputTokens,
      (it) => compact(it.inputTokens),
      true,
    ),
    number(
      "Tokens out",
      (it) => it.outputTokens,
      (it) => compact(it.outputTokens),
    ),
    number(
      "Cached",
      (it) => it.cachedInputTokens,
      (it) => share(it.cachedInputTokens, it.inputTokens),
    ),
    number(
      "Reasoning",
      (it) => it.reasoningTokens,
      (it) => share(it.reasoningTokens, it.outputTokens),
    ),
    number(
      "Calls",
      (it) => it.toolCalls,
      (it) => count(it.toolCalls),
    ),
    {
      ...number(
        "Errors",
        (it) => it.toolErrors,
        (it) => count(it.toolErrors),
      ),
      href: (stat) => (stat.toolErrors ? href(stat, true) : undefined),
    },
  ];
}
