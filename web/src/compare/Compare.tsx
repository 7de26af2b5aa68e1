import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { getRun, listRuns } from "../api/runs";
import type { Run } from "../partita.gen";
import { go, toCompare } from "../ui/routing";
import { Empty, Failure } from "../ui/States";
import { useTitle } from "../ui/useTitle";
import styles from "./Compare.module.css";
import { Comparison } from "./Comparison";
import { RunPicker } from "./RunPicker";
import { RunSelection } from "./RunSelection";

const MAX_RUNS = 100;

/** Two runs side by side. */
export function Compare({ a, b }: { a: string | null; b: string | null }) {
  useTitle("Compare");
  const one = useRun(a);
  const other = useRun(b);
  const suggested = useOtherRun(one.data, b);
  useEffect(() => {
    if (a && !b && suggested) go(toCompare(a, suggested), { replace: true });
  }, [a, b, suggested]);
  const error = one.error ?? other.error;
  return (
    <div className={styles.compare}>
      <h1 className={styles.title}>Compare two runs</h1>
      <RunSelection
        a={one.data}
        b={other.data}
        onChoose={(side, id) => go(side === "a" ? toCompare(id, b) : toCompare(a, id))}
      />
      {error && <Failure error={error} />}
      {!error && a && b && <Comparison a={a} b={b} />}
      {!error && a && !b && <Empty title="Select the other run">This session has no other run.</Empty>}
      {!error && !a && (
        <section className={styles.first} aria-labelledby="first-run">
          <h2 id="first-run">Select the first run</h2>
          <RunPicker onChoose={(id) => go(toCompare(id, b))} />
        </section>
      )}
    </div>
  );
}

function useRun(id: string | null) {
  return useQuery({
    queryKey: ["run", id],
    enabled: id !== null,
    queryFn: ({ signal }) => getRun(id ?? "", signal),
  });
}

/** Another run of the same session: the previous one, else the next one. */
function useOtherRun(run: Run | undefined, chosen: string | null): string | undefined {
  const runs = useQuery({
    queryKey: ["runs", run?.threadId],
    enabled: run !== undefined && chosen === null,
    queryFn: ({ signal }) => listRuns({ threadId: run?.threadId, limit: MAX_RUNS }, signal),
  });
  const items = runs.data?.items ?? [];
  const index = items.findIndex((one) => one.id === run?.id);
  return (items[index + 1] ?? items[index - 1])?.id;
}
