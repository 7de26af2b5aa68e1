import { useMemo } from "react";
import type { Split, Stat, Step } from "../api/analytics";
import { ButtonGroup } from "../ui/ButtonGroup";
import { go } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { useTitle } from "../ui/useTitle";
import styles from "./Analytics.module.css";
import { Breakdown } from "./Breakdown";
import { Days } from "./Days";
import { Filters } from "./Filters";
import { Growth } from "./Growth";
import { OVER_TIME, OverTime } from "./OverTime";
import { formatDay, periodsIn, plusDays } from "./periods";
import { useStats, useToolStats } from "./queries";
import { Reasoning } from "./Reasoning";
import { hrefWith, type Selection, selectionOf } from "./selection";
import { Tools } from "./Tools";
import { TopRuns, TopThreads } from "./TopLists";
import { Totals } from "./Totals";
import { threadIdsOf } from "./timeSeries";

const STEPS: readonly { value: Step; label: string }[] = [
  { value: "day", label: "Days" },
  { value: "week", label: "Weeks" },
  { value: "month", label: "Months" },
];
const SPLITS: readonly { value: Split; label: string }[] = [
  { value: "model", label: "Models" },
  { value: "agent", label: "Agents" },
  { value: "project", label: "Projects" },
];

/** Token counts, cost, runs and tools over time. Every number links to its sessions. */
export function Analytics({ query }: { query: URLSearchParams }) {
  const today = formatDay(new Date()); // stable during the day, so that responses stay cached
  useTitle("Analytics");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `today` stands for the current time
  const selection = useMemo(() => selectionOf(query, new Date()), [query, today]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Analytics</h1>
        <Filters selection={selection} />
      </header>
      <Report selection={selection} />
    </div>
  );
}

function Report({ selection }: { selection: Selection }) {
  const total = useStats([], selection.filters);
  const now = total.data?.[0];
  if (total.error) return <Failure error={total.error} retry={() => void total.refetch()} />;
  if (!now) return <Loading />;
  if (now.threads === 0 && !selection.thread) {
    return (
      <Empty title="No data in this period">
        <p>
          <a href={hrefWith(new URLSearchParams(), { range: "all" })}>Show all time</a>, or select other
          filters.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Overview selection={selection} now={now} />
      <Details selection={selection} />
    </>
  );
}

function Overview({ selection, now }: { selection: Selection; now: Stat }) {
  const before = useStats([], selection.before).data?.[0];
  const tools = useToolStats(selection.filters).data;
  const byPeriod = useStats([selection.step], selection.filters).data ?? [];
  const byName = new Map(byPeriod.map((stat) => [stat.key[0] ?? "", stat]));
  const periods = periodsIn(selection.step, selection.span, [...byName.keys()], new Date());
  return (
    <Totals
      selection={selection}
      now={now}
      before={selection.before && before}
      periods={periods.map((period) => byName.get(period))}
      failing={tools && threadIdsOf(tools.map(({ failingThreadIds }) => ({ threadIds: failingThreadIds })))}
    />
  );
}

function Details({ selection }: { selection: Selection }) {
  return (
    <>
      <Charts selection={selection} />
      <Days
        filters={{ ...selection.filters, since: undefined, until: undefined }}
        last={selection.span.until && formatDay(plusDays(selection.span.until, -1))}
      />
      <div className={styles.wide}>
        <Growth selection={selection} />
        <ToolTable selection={selection} />
        {SPLITS.map(({ value }) => (
          <BreakdownOf key={value} selection={selection} split={value} />
        ))}
        <TopRuns selection={selection} />
        <TopThreads selection={selection} />
      </div>
    </>
  );
}

function Charts({ selection }: { selection: Selection }) {
  const { step, split, filters, span, query } = selection;
  const statsQuery = useStats([step, split], filters);
  const stats = statsQuery.data;
  const periods = useMemo(
    () =>
      periodsIn(
        step,
        span,
        (stats ?? []).map(({ key }) => key[0] ?? ""),
        new Date(),
      ),
    [step, span, stats],
  );
  const set = (changes: Record<string, string>) => go(hrefWith(query, changes), { replace: true });
  if (statsQuery.error) return <Failure error={statsQuery.error} retry={() => void statsQuery.refetch()} />;
  return (
    <>
      <div className={styles.choices}>
        <ButtonGroup
          label="Columns"
          value={step}
          choices={STEPS}
          onChange={(value) => set({ step: value })}
        />
        <ButtonGroup
          label="Split by"
          value={split}
          choices={SPLITS}
          onChange={(value) => set({ split: value })}
        />
      </div>
      <div className={styles.charts}>
        {stats ? (
          <>
            {OVER_TIME.map((measure) => (
              <OverTime
                key={measure.title}
                selection={selection}
                stats={stats}
                periods={periods}
                measure={measure}
              />
            ))}
            <Reasoning selection={selection} stats={stats} periods={periods} />
          </>
        ) : (
          <Loading />
        )}
      </div>
    </>
  );
}

function ToolTable({ selection }: { selection: Selection }) {
  const statsQuery = useToolStats(selection.filters);
  if (statsQuery.error) return <Failure error={statsQuery.error} retry={() => void statsQuery.refetch()} />;
  return statsQuery.data ? <Tools selection={selection} stats={statsQuery.data} /> : <Loading />;
}

function BreakdownOf({ selection, split }: { selection: Selection; split: Split }) {
  const statsQuery = useStats([split], selection.filters);
  if (statsQuery.error) return <Failure error={statsQuery.error} retry={() => void statsQuery.refetch()} />;
  return statsQuery.data ? (
    <Breakdown selection={selection} split={split} stats={statsQuery.data} />
  ) : (
    <Loading />
  );
}
