import { useQuery } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { listRuns } from "../api/runs";
import { getThread } from "../api/threads";
import type { Run } from "../partita.gen";
import { agentName } from "../ui/AgentMark";
import { CopyButton } from "../ui/CopyButton";
import { ago, compact, duration, moment, money, plural } from "../ui/format";
import { go, toCompare, toRun, toThread } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { useTitle } from "../ui/useTitle";
import styles from "./RunHeader.module.css";

const MAX_RUNS = 200;

/** The thread, the facts and the actions of a run. */
export function RunHeader({ run, link }: { run: Run; link: () => string }) {
  const thread = useQuery({
    queryKey: ["thread", run.threadId, "title"],
    queryFn: ({ signal }) => getThread(run.threadId, signal),
  });
  const runs = useQuery({
    queryKey: ["runs", run.threadId],
    queryFn: ({ signal }) => listRuns({ threadId: run.threadId, limit: MAX_RUNS }, signal),
  });
  const title = visible(thread.data?.title || "Untitled session");
  useTitle(thread.data && `Replay: ${title}`, { isActive: run.status === "running" });
  const siblings = runs.data?.items ?? [];
  return (
    <header className={styles.header}>
      <div className={styles.line}>
        <h1 className={styles.title}>
          <span className="visually-hidden">Replay of a run of </span>
          <a href={toThread(run.threadId, run.messageId)}>{title}</a>
        </h1>
        <div className={styles.actions}>
          {siblings.length > 1 && (
            <select
              aria-label="Another run of this session"
              value={run.id}
              onChange={(event) => go(toRun(event.target.value))}
            >
              {siblings.map((one, index) => (
                <option key={one.id} value={one.id}>
                  {runLabel(one, siblings.length - index)}
                </option>
              ))}
            </select>
          )}
          <a className={styles.compare} href={toCompare(run.id)} title="Compare with another run">
            <GitCompareArrows size={15} aria-hidden />
            <span>Compare with …</span>
          </a>
          <CopyButton label="Copy link to this position" text={link} />
        </div>
      </div>
      <RunFacts run={run} />
    </header>
  );
}

export function runLabel(run: Run, number: number): string {
  const when = run.startedAt ?? run.createdAt;
  return [`Run ${number}`, when && ago(when), run.model, run.status].filter(Boolean).join(" · ");
}

/** Status, agent, model, time, duration, tokens and cost. */
export function RunFacts({ run }: { run: Run }) {
  const when = run.startedAt ?? run.createdAt;
  const seconds =
    run.startedAt && run.finishedAt ? (Date.parse(run.finishedAt) - Date.parse(run.startedAt)) / 1000 : null;
  const tokens = run.usage?.totalTokens ?? (run.usage?.inputTokens ?? 0) + (run.usage?.outputTokens ?? 0);
  return (
    <ul className={styles.facts}>
      <li data-status={run.status} className={styles.status}>
        {run.status}
      </li>
      {run.agent && <li>{visible(agentName(run.agent))}</li>}
      {run.model && <li>{visible(run.model)}</li>}
      {when && <li>{moment(when)}</li>}
      {seconds !== null && <li>{duration(seconds)}</li>}
      {tokens > 0 && <li title={plural(tokens, "token")}>{compact(tokens)} tokens</li>}
      {run.cost !== undefined && <li>{money(run.cost)}</li>}
      {run.error && <li className={styles.error}>{visible(run.error.slice(0, 300))}</li>}
    </ul>
  );
}
