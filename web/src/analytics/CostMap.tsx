import { ChevronRight } from "lucide-react";
import { useId, useMemo } from "react";
import type { Stat, StatFilters, ThreadStat } from "../api/analytics";
import { shortProject } from "../threads/rows";
import { compact, money, plural } from "../ui/format";
import { toThread } from "../ui/routing";
import { Failure } from "../ui/States";
import styles from "./CostMap.module.css";
import { Figure } from "./charts/Figure";
import type { Rect } from "./charts/squarify";
import { MAX_SERIES, sum } from "./charts/stack";
import { Treemap } from "./charts/Treemap";
import { layOut, type Others, placeItems, type TreeGroup, type TreeItem } from "./charts/treeLayout";
import { colourIn } from "./colours";
import { labelOf, share, titleOf } from "./labels";
import { MAX_THREADS, useOrder, useStats, useThreadStats } from "./queries";
import { Section } from "./Section";
import { hrefWith, type Selection, toThreads } from "./selection";
import type { Column } from "./Table";

const HEIGHT = 380;

/** The cost of each project and session as a treemap. A project leads to its sessions, a session opens. */
export function CostMap({ selection }: { selection: Selection }) {
  const { zoom, query } = selection;
  const filters = zoom ? { ...selection.filters, project: zoom } : selection.filters;
  const projects = useStats(["project"], selection.filters);
  const threads = useThreadStats("cost", filters, MAX_THREADS);
  const error = projects.error ?? threads.error;
  return (
    <Section
      name="cost"
      target={query.get("chart")}
      controls={
        zoom && (
          <nav className={styles.path} aria-label="Zoom">
            <a href={hrefWith(query, { zoom: null })}>All projects</a>
            <ChevronRight size={13} aria-hidden />
            <span title={labelOf("project", zoom)}>{shortProject(labelOf("project", zoom))}</span>
            <a className={styles.list} href={toThreads(filters)}>
              List of sessions
            </a>
          </nav>
        )
      }
    >
      {error ? (
        <Failure error={error} retry={() => void Promise.all([projects.refetch(), threads.refetch()])} />
      ) : (
        <CostTree
          selection={selection}
          filters={filters}
          projects={projects.data}
          threads={threads.isPlaceholderData ? undefined : threads.data}
        />
      )}
    </Section>
  );
}

interface TreeProps {
  readonly selection: Selection;
  readonly filters: StatFilters;
  readonly projects: readonly Stat[] | undefined;
  readonly threads: readonly ThreadStat[] | undefined;
}

type Consumption = Pick<Stat, "cost" | "inputTokens" | "outputTokens">;

function CostTree({ selection, filters, projects, threads }: TreeProps) {
  const id = useId();
  const order = useOrder("project", selection);
  const { zoom, query } = selection;
  const isPriced = !projects || projects.some(({ cost }) => cost);
  const sizeOf = (it: Consumption) => (isPriced ? (it.cost ?? 0) : it.inputTokens + it.outputTokens);
  const format = isPriced ? money : compact;
  const groups = useMemo(() => groupsOf(projects ?? [], threads ?? [], zoom), [projects, threads, zoom]);
  const drawn = groups.map(
    ({ stat, sessions }): TreeGroup => ({
      key: `project ${stat.key[0] ?? ""}`,
      name: shortProject(labelOf("project", stat.key[0])),
      value: sizeOf(stat),
      href: stat.key[0]
        ? hrefWith(query, { zoom: stat.key[0] })
        : toThreads({ ...selection.filters, ids: stat.threadIds }),
      action: stat.key[0] ? "Zoom in" : "Show its sessions",
      colour: colourIn(order, labelOf("project", stat.key[0])),
      items: itemsOf(stat, sessions, sizeOf, filters),
    }),
  );
  const others: Others = (items, group) => ({
    key: `others of ${group?.key ?? ""}`,
    name:
      group || zoom ? `${plural(items.length, "other session")}` : `${plural(items.length, "other project")}`,
    value: sum(items.map(({ value }) => value)),
    href: toThreads({
      ...filters,
      ...(group ? { project: group.key.replace(/^project /, "") || undefined } : {}),
    }),
    action: "Show the sessions",
  });
  const [only] = drawn;
  const place = (within: Rect) =>
    zoom && only
      ? placeItems(only.items, within, only.colour, others)
      : layOut(drawn, within, others, MAX_SERIES);
  const total = sum(drawn.map(({ value }) => value));
  const first = drawn.reduce<TreeItem | undefined>(
    (best, one) => (best && best.value >= one.value ? best : one),
    undefined,
  );
  const summary =
    !first || !total
      ? "No usage data in this period."
      : zoom
        ? `${format(total)} in ${plural(groups[0]?.stat.threads ?? 0, "session")}.`
        : `${format(total)} in ${plural(drawn.length, "project")}. Largest: ${first.name} (${share(first.value, total)}).`;
  const columns: Column<ThreadStat>[] = [
    { label: "Session", value: titleOf, href: (thread) => toThread(thread.id) },
    { label: "Project", value: (thread) => labelOf("project", thread.project) },
    {
      label: "Cost",
      value: (it) => it.cost,
      text: (it) => (it.cost === undefined ? "–" : money(it.cost)),
      number: true,
    },
    {
      label: "Tokens",
      value: (it) => it.inputTokens + it.outputTokens,
      text: (it) => compact(it.inputTokens + it.outputTokens),
      number: true,
    },
  ];
  const title = isPriced ? "Map of costs" : "Map of tokens";
  return (
    <Figure
      id={id}
      title={title}
      level={3}
      summary={summary}
      isLoading={!projects || !threads}
      legend={<span />}
      columns={columns}
      rows={threads ?? []}
      keyOf={(thread) => thread.id}
    >
      <Treemap name={title} summary={`${title}. ${summary}`} height={HEIGHT} place={place} format={format} />
    </Figure>
  );
}

interface Group {
  readonly stat: Stat;
  readonly sessions: readonly ThreadStat[];
}

/** The projects with their sessions; with `zoom`, only that one. */
function groupsOf(
  projects: readonly Stat[],
  threads: readonly ThreadStat[],
  zoom: string | undefined,
): Group[] {
  const byProject = new Map<string, ThreadStat[]>();
  for (const thread of threads) {
    const known = byProject.get(thread.project ?? "");
    if (known) known.push(thread);
    else byProject.set(thread.project ?? "", [thread]);
  }
  return projects
    .filter((stat) => !zoom || stat.key[0] === zoom)
    .map((stat) => ({ stat, sessions: byProject.get(stat.key[0] ?? "") ?? [] }));
}

/** The sessions of a project, and what belongs to sessions that are not loaded. */
function itemsOf(
  stat: Stat,
  sessions: readonly ThreadStat[],
  sizeOf: (it: Consumption) => number,
  filters: StatFilters,
): TreeItem[] {
  const items = sessions.map((thread) => ({
    key: `session ${thread.id}`,
    name: titleOf(thread),
    value: sizeOf(thread),
    href: toThread(thread.id),
    action: "Open the session",
  }));
  const rest = sizeOf(stat) - sum(items.map(({ value }) => value));
  if (!items.length || items.length >= stat.threads || rest <= sizeOf(stat) * 0.001) return items;
  return [
    ...items,
    {
      key: `rest of ${stat.key[0] ?? ""}`,
      name: `${plural(stat.threads - items.length, "other session")}`,
      value: rest,
      href: toThreads({ ...filters, project: stat.key[0] ?? undefined }),
      action: "Show the sessions",
    },
  ];
}
