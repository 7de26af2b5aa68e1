import { useMemo } from "react";
import type { Split, Stat, Step } from "../api/analytics";
import { go } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import styles from "./Analytics.module.css";
import { Breakdown } from "./Breakdown";
import { Choice } from "./Choice";
import { Filters } from "./Filters";
import { Growth } from "./Growth";
import { Headline } from "./Headline";
import { OVER_TIME, OverTime } from "./OverTime";
import { together } from "./overtime";
import { nameOfDay, periodsIn } from "./periods";
import { changed, type Shown, shownBy } from "./place";
import { useStats, useToolStats } from "./queries";
import { Reasoning } from "./Reasoning";
import { Tools } from "./Tools";
import { TopRuns, TopThreads } from "./Tops";

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

/** What was consumed, by whom, when: every number leads to the sessions behind it. */
export function Analytics({ query }: { query: URLSearchParams }) {
  const today = nameOfDay(new Date()); // the same questions all day, so that answers are kept
  // biome-ignore lint/correctness/useExhaustiveDependencies: the day stands for the moment
  const shown = useMemo(() => shownBy(query, new Date()), [query, today]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Analytics</h1>
        <Filters shown={shown} />
      </header>
      <Report shown={shown} />
    </div>
  );
}

function Report({ shown }: { shown: Shown }) {
  const total = useStats([], shown.filters);
  const now = total.data?.[0];
  if (total.error) return <Failure error={total.error} retry={() => void total.refetch()} />;
  if (!now) return <Loading />;
  if (now.threads === 0 && !shown.thread) {
    return (
      <Empty title="Nothing happened in this time">
        <p>
          <a href={changed(new URLSearchParams(), { range: "all" })}>Show all time</a>, or choose other
          filters.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Whole shown={shown} now={now} />
      <Details shown={shown} />
    </>
  );
}

function Whole({ shown, now }: { shown: Shown; now: Stat }) {
  const before = useStats([], shown.before).data?.[0];
  const tools = useToolStats(shown.filters).data;
  const byPeriod = useStats([shown.step], shown.filters).data ?? [];
  const told = new Map(byPeriod.map((stat) => [stat.key[0] ?? "", stat]));
  const periods = periodsIn(shown.step, shown.span, [...told.keys()], new Date());
  return (
    <Headline
      shown={shown}
      now={now}
      before={shown.before && before}
      periods={periods.map((period) => told.get(period))}
      failing={tools && together(tools.map(({ failingThreadIds }) => ({ threadIds: failingThreadIds })))}
    />
  );
}

function Details({ shown }: { shown: Shown }) {
  return (
    <>
      <Charts shown={shown} />
      <div className={styles.wide}>
        <Growth shown={shown} />
        <ToolTable shown={shown} />
        {SPLITS.map(({ value }) => (
          <BreakdownOf key={value} shown={shown} split={value} />
        ))}
        <TopRuns shown={shown} />
        <TopThreads shown={shown} />
      </div>
    </>
  );
}

function Charts({ shown }: { shown: Shown }) {
  const { step, split, filters, span, query } = shown;
  const asked = useStats([step, split], filters);
  const stats = asked.data;
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
  const set = (changes: Record<string, string>) => go(changed(query, changes), { replace: true });
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return (
    <>
      <div className={styles.choices}>
        <Choice label="Columns" value={step} choices={STEPS} onChange={(value) => set({ step: value })} />
        <Choice label="Split by" value={split} choices={SPLITS} onChange={(value) => set({ split: value })} />
      </div>
      <div className={styles.charts}>
        {stats ? (
          <>
            {OVER_TIME.map((measure) => (
              <OverTime key={measure.title} shown={shown} stats={stats} periods={periods} measure={measure} />
            ))}
            <Reasoning shown={shown} stats={stats} periods={periods} />
          </>
        ) : (
          <Loading />
        )}
      </div>
    </>
  );
}

function ToolTable({ shown }: { shown: Shown }) {
  const asked = useToolStats(shown.filters);
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return asked.data ? <Tools shown={shown} stats={asked.data} /> : <Loading />;
}

function BreakdownOf({ shown, split }: { shown: Shown; split: Split }) {
  const asked = useStats([split], shown.filters);
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return asked.data ? <Breakdown shown={shown} split={split} stats={asked.data} /> : <Loading />;
}
