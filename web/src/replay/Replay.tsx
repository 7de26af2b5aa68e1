import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { getRun } from "../api/runs";
import type { Run } from "../partita.gen";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import styles from "./Replay.module.css";
import { RunHeader } from "./RunHeader";
import { useRunTimeline } from "./runTimeline";
import { Theatre } from "./Theatre";

const LOOK_AGAIN = 3000;

/** A run once more: any moment of it, with the event that came then. */
export function Replay({ runId, at }: { runId: string; at: string | null }) {
  const run = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => getRun(runId, signal),
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data) ? LOOK_AGAIN : false),
  });
  const { timeline, progress } = useRunTimeline(runId);
  if (run.error) return <Untitled>{<Failure error={run.error} retry={() => void run.refetch()} />}</Untitled>;
  if (!run.data) return <Untitled>{<Loading />}</Untitled>;
  if (progress.error) return <Told run={run.data}>{<NoLog run={run.data} error={progress.error} />}</Told>;
  if (progress.loaded) return <Theatre run={run.data} timeline={timeline} progress={progress} at={at} />;
  if (!progress.complete) return <Told run={run.data}>{<Loading what="Reading the run" />}</Told>;
  return (
    <Told run={run.data}>
      <Empty title={progress.atWork ? "Nothing has come yet" : "This run said nothing of its own"}>
        <a href={toThread(run.data.threadId, run.data.messageId)}>Open its session</a>
      </Empty>
    </Told>
  );
}

const isAtWork = (run: Run): boolean => run.status === "running" || run.status === "pending";

function NoLog({ run, error }: { run: Run; error: unknown }) {
  if (!(error instanceof Problem) || error.status !== 404) return <Failure error={error} />;
  return (
    <Empty title="The log of this run is gone, and with it every moment but the last">
      <p>{error.message}</p>
      <a href={toThread(run.threadId, run.messageId)}>Open its session, where the messages are</a>
    </Empty>
  );
}

function Untitled({ children }: { children: ReactNode }) {
  return (
    <div className={styles.replay}>
      <h1 className="visually-hidden">Replay</h1>
      {children}
    </div>
  );
}

function Told({ run, children }: { run: Run; children: ReactNode }) {
  return (
    <div className={styles.replay}>
      <div className={styles.top}>
        <RunHeader run={run} link={() => location.href} />
      </div>
      {children}
    </div>
  );
}
