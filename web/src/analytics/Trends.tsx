import { useMemo } from "react";
import type { Split, Stat, Step } from "../api/analytics";
import { ButtonGroup } from "../ui/ButtonGroup";
import { go } from "../ui/routing";
import { Failure } from "../ui/States";
import { Legend } from "./charts/Legend";
import { MAX_SERIES, OTHER } from "./charts/stack";
import { colourIn } from "./colours";
import { AVERAGED, OVER_TIME, OverTime } from "./OverTime";
import { periodsIn } from "./periods";
import { useOrder, usePeriods, useTrends } from "./queries";
import { Section } from "./Section";
import { hrefWith, type Selection } from "./selection";
import styles from "./Trends.module.css";

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
const NONE: readonly Stat[] = [];

/** Cost, tokens, sessions and active time by day, week or month. The charts have one legend. */
export function Trends({ selection, total }: { selection: Selection; total?: Stat }) {
  const { step, split, span, query } = selection;
  const parts = useTrends(selection);
  const whole = usePeriods(selection);
  const order = useOrder(split, selection);
  const stats = parts.data ?? NONE;
  const all = whole.data ?? NONE;
  const periods = useMemo(
    () =>
      periodsIn(
        step,
        span,
        [...stats, ...all].map(({ key }) => key[0] ?? ""),
        new Date(),
      ),
    [step, span, stats, all],
  );
  const sessions = useMemo(() => all.map((stat) => ({ ...stat, key: [stat.key[0] ?? null, null] })), [all]);
  const set = (changes: Record<string, string>) => go(hrefWith(query, changes), { replace: true });
  const error = parts.error ?? whole.error;
  return (
    <Section
      name="trends"
      target={query.get("chart")}
      controls={
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
      }
    >
      <div className={styles.legend}>
        <Legend
          name="trends"
          average={`Average of ${AVERAGED[step]} ${step}s`}
          entries={[
            ...order.slice(0, MAX_SERIES).map((name) => ({ name, colour: colourIn(order, name) })),
            ...(order.length > MAX_SERIES ? [{ name: OTHER, colour: MAX_SERIES }] : []),
          ]}
        />
      </div>
      {error ? (
        <Failure error={error} retry={() => void Promise.all([parts.refetch(), whole.refetch()])} />
      ) : (
        <div className={styles.charts}>
          {OVER_TIME.map((measure) => (
            <OverTime
              key={measure.title}
              selection={selection}
              stats={measure.distinct ? sessions : stats}
              total={measure.distinct ? total?.threads : undefined}
              order={measure.distinct ? [] : order}
              isLoading={parts.isPending || whole.isPending}
              periods={periods}
              measure={measure}
            />
          ))}
        </div>
      )}
    </Section>
  );
}
