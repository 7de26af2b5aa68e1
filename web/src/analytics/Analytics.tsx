import { useEffect, useMemo } from "react";
import type { Stat } from "../api/analytics";
import { go } from "../ui/routing";
import { Empty, Failure } from "../ui/States";
import { useTitle } from "../ui/useTitle";
import styles from "./Analytics.module.css";
import { Breakdown } from "./Breakdown";
import { CostMap } from "./CostMap";
import { Days } from "./Days";
import { Filters } from "./Filters";
import { Growth } from "./Growth";
import { Hours } from "./Hours";
import { Lazy } from "./Lazy";
import { formatDay, periodsIn, plusDays } from "./periods";
import { Later, useFirstQueries, usePeriods, useStats, useToolStats } from "./queries";
import { Section } from "./Section";
import { SectionLinks } from "./SectionLinks";
import { Sessions } from "./Sessions";
import { hrefWith, type Selection, selectionOf } from "./selection";
import { Tools } from "./Tools";
import { Totals } from "./Totals";
import { Trends } from "./Trends";
import { Turns } from "./Turns";
import { threadIdsOf } from "./timeSeries";

/** Cost, tokens, sessions and calls, over time and by what caused them. Everything leads to its sessions. */
export function Analytics({ query }: { query: URLSearchParams }) {
  const today = formatDay(new Date()); // stable during the day, so that responses stay cached
  useTitle("Analytics");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `today` stands for the current time
  const selection = useMemo(() => selectionOf(query, new Date()), [query, today]);
  useFirstQueries(selection);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Analytics</h1>
        <Filters selection={selection} />
        <SectionLinks query={query} />
      </header>
      <Report selection={selection} />
    </div>
  );
}

/** All sections. Each loads on its own and has its height from the start, so that nothing moves. */
function Report({ selection }: { selection: Selection }) {
  const total = useStats([], selection.filters);
  const now = total.data?.[0];
  if (total.error) return <Failure error={total.error} retry={() => void total.refetch()} />;
  if (now?.threads === 0 && !selection.thread) return <Nothing query={selection.query} />;
  const target = selection.query.get("chart");
  return (
    <Later value={now !== undefined}>
      <Section name="totals" target={target} hideHeading>
        <Overview selection={selection} now={now} />
      </Section>
      <Trends selection={selection} total={now} />
      <Section name="activity" target={target}>
        <div className={styles.activity}>
          <Days
            level={3}
            filters={{ ...selection.filters, since: undefined, until: undefined }}
            last={selection.span.until && formatDay(plusDays(selection.span.until, -1))}
          />
          <Hours selection={selection} />
        </div>
      </Section>
      <CostMap selection={selection} />
      <Growth selection={selection} />
      <Section name="sessions" target={target} hideHeading>
        <Lazy rows={10}>
          <Sessions selection={selection} />
        </Lazy>
      </Section>
      <Section name="turns" target={target} hideHeading>
        <Lazy rows={10}>
          <Turns selection={selection} />
        </Lazy>
      </Section>
      <Section name="models" target={target} hideHeading>
        <Lazy rows={10}>
          <Breakdown selection={selection} split="model" />
        </Lazy>
      </Section>
      <Section name="projects" target={target} hideHeading>
        <Lazy rows={10}>
          <Breakdown selection={selection} split="project" />
        </Lazy>
        <Lazy rows={4}>
          <Breakdown selection={selection} split="agent" />
        </Lazy>
      </Section>
      <Section name="tools" target={target} hideHeading>
        <Lazy rows={10}>
          <Tools selection={selection} />
        </Lazy>
      </Section>
    </Later>
  );
}

const FILTERS = ["range", "from", "to", "agent", "project", "model"];

/** Says that there is nothing. If the user has not chosen the period, it is all time instead. */
function Nothing({ query }: { query: URLSearchParams }) {
  const isChosen = FILTERS.some((name) => query.has(name));
  useEffect(() => {
    if (!isChosen) go(hrefWith(query, { range: "all" }), { replace: true });
  }, [isChosen, query]);
  if (!isChosen) return null;
  if (query.get("range") === "all" && FILTERS.slice(1).every((name) => !query.has(name))) {
    return (
      <Empty title="No sessions yet">
        <p>Statistics are shown when there are sessions.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No data in this period">
      <p>
        <a href={hrefWith(new URLSearchParams(), { range: "all" })}>Show all time</a>, or select other
        filters.
      </p>
    </Empty>
  );
}

function Overview({ selection, now }: { selection: Selection; now: Stat | undefined }) {
  const before = useStats([], selection.before).data?.[0];
  const tools = useToolStats(selection.filters).data;
  const byPeriod = usePeriods(selection).data ?? [];
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
