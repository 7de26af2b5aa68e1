import { useMemo } from "react";
import type { Split, Stat } from "../api/analytics";
import { compact, count, money } from "../ui/format";
import { Card } from "./Card";
import { nameOfKey, share } from "./names";
import { changed, type Shown, toThreads } from "./place";
import type { Column } from "./Table";

const TITLES: Record<Split, string> = { project: "By project", model: "By model", agent: "By agent" };

/** What each project, model or agent took; a name narrows the page, a number shows its sessions. */
export function Breakdown({ shown, split, stats }: { shown: Shown; split: Split; stats: readonly Stat[] }) {
  const columns = useMemo(() => columnsOf(shown, split), [shown, split]);
  return (
    <Card
      title={TITLES[split]}
      columns={columns}
      rows={stats}
      keyOf={(stat) => stat.key[0] ?? ""}
      empty="Nothing in this time."
    />
  );
}

function columnsOf({ query, filters }: Shown, split: Split): Column<Stat>[] {
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
      value: (stat) => nameOfKey(split, stat.key[0]),
      href: (stat) => (stat.key[0] ? changed(query, { [split]: stat.key[0] }) : undefined),
      title: (stat) => `Only ${nameOfKey(split, stat.key[0])}`,
    },
    number(
      "Cost",
      (it) => it.cost ?? 0,
      (it) => (it.cost === undefined ? "–" : money(it.cost)),
      true,
    ),
    number(
      "Sessions",
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
