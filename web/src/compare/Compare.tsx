import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { getRun, listRuns } from "../api/runs";
import type { Run } from "../partita.gen";
import { go, toCompare } from "../ui/routing";
import { Empty, Failure } from "../ui/States";
import styles from "./Compare.module.css";
import { Comparison } from "./Comparison";
import { RunPicker } from "./RunPicker";
import { Sides } from "./Sides";

const RUNS = 100;

/** Two runs side by side. */
export function Compare({ a, b }: { a: string | null; b: string | null }) {
  const one = useRun(a);
  const other = useRun(b);
  const suggested = useOther(one.data, b);
  useEffect(() => {
    if (a && !b && suggested) go(toCompare(a, suggested), { replace: true });
  }, [a, b, suggested]);
  const error = one.error ?? other.error;
  return (
    <div className={styles.compare}>
      <h1 className={styles.title}>Compare two runs</h1>
      <Sides
        a={one.data}
        b={other.data}
        onChoose={(side, id) => go(side === "a" ? toCompare(id, b) : toCompare(a, id))}
      />
      {error && <Failure error={error} />}
      {!error && a && b && <Comparison a={a} b={b} />}
      {!error && a && !b && (
        <Empty title="Choose the other run">There is no other run in this session.</Empty>
      )}
      {!error && !a && (
        <section className={styles.first} aria-labelledby="first-run">
          <h2 id="first-run">Choose the first run</h2>
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

/** Another run of the same session: the one before it, such as the answer that was not good enough. */
function useOther(run: Run | undefined, chosen: string | null): string | undefined {
  const runs = useQuery({
    queryKey: ["runs", run?.threadId],
    enabled: run !== undefined && chosen === null,
    queryFn: ({ signal }) => listRuns({ threadId: run?.threadId, limit: RUNS }, signal),
  });
  const items = runs.data?.items ?? [];
  const place = items.findIndex((one) => one.id === run?.id);
  return (items[place + 1] ?? items[place - 1])?.id;
}
