import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { getRun } from "../api/runs";
import type { Run } from "../partita.gen";
import { toThread } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { useTitle } from "../ui/useTitle";
import styles from "./Replay.module.css";
import { ReplayPlayer } from "./ReplayPlayer";
import { RunHeader } from "./RunHeader";
import { useRunTimeline } from "./runTimeline";

const POLL_INTERVAL = 3000;

/** A replay of a run: its messages at any position, with the event of that position. */
export function Replay({ runId, at }: { runId: string; at: string | null }) {
  const run = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => getRun(runId, signal),
    refetchInterval: ({ state }) => (state.data && isActive(state.data) ? POLL_INTERVAL : false),
  });
  const { timeline, progress } = useRunTimeline(runId);
  useTitle(run.data ? null : "Replay"); // else named by its header
  if (run.error)
    return <WithoutRun>{<Failure error={run.error} retry={() => void run.refetch()} />}</WithoutRun>;
  if (!run.data) return <WithoutRun>{<Loading />}</WithoutRun>;
  if (progress.error)
    return <WithHeader run={run.data}>{<NoLog run={run.data} error={progress.error} />}</WithHeader>;
  if (progress.loaded) return <ReplayPlayer run={run.data} timeline={timeline} progress={progress} at={at} />;
  if (!progress.complete) return <WithHeader run={run.data}>{<Loading what="Loading the run" />}</WithHeader>;
  return (
    <WithHeader run={run.data}>
      <Empty title={progress.isActive ? "No events yet" : "This run has no events"}>
        <a href={toThread(run.data.threadId, run.data.messageId)}>Open the session</a>
      </Empty>
    </WithHeader>
  );
}

const isActive = (run: Run): boolean => run.status === "running" || run.status === "pending";

function NoLog({ run, error }: { run: Run; error: unknown }) {
  if (!(error instanceof Problem) || error.status !== 404) return <Failure error={error} />;
  return (
    <Empty title="The log of this run was deleted, so it cannot be replayed">
      <p>{error.message}</p>
      <a href={toThread(run.threadId, run.messageId)}>Open the session to see its messages</a>
    </Empty>
  );
}

function WithoutRun({ children }: { children: ReactNode }) {
  return (
    <div className={styles.replay}>
      <h1 className="visually-hidden">Replay</h1>
      {children}
    </div>
  );
}

function WithHeader({ run, children }: { run: Run; children: ReactNode }) {
  return (
    <div className={styles.replay}>
      <div className={styles.top}>
        <RunHeader run={run} link={() => location.href} />
      </div>
      {children}
    </div>
  );
}
