import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useDeferredValue, useId, useState } from "react";
import { findThreads, listRuns } from "../api/runs";
import type { Run, Thread } from "../partita.gen";
import { runLabel } from "../replay/RunHeader";
import { Button } from "../ui/Button";
import { ago, compact, money, plural } from "../ui/format";
import { visible } from "../ui/hostile";
import { Failure, Loading } from "../ui/States";
import styles from "./RunPicker.module.css";

const RECENT = 12;
const FOUND = 30;
const RUNS = 200;
const SHORT = 12;

interface Props {
  /** The session whose runs are shown first. */
  readonly first?: string;
  readonly onChoose: (runId: string) => void;
}

/** A run to be chosen: among the latest, or of a session that is searched for. */
export function RunPicker({ first, onChoose }: Props) {
  const [thread, setThread] = useState(first);
  return thread === undefined ? (
    <Sessions onRun={onChoose} onThread={setThread} />
  ) : (
    <RunsOf threadId={thread} onRun={onChoose} onBack={() => setThread(undefined)} />
  );
}

interface SessionsProps {
  readonly onRun: (id: string) => void;
  readonly onThread: (id: string) => void;
}

function Sessions({ onRun, onThread }: SessionsProps) {
  const [text, setText] = useState("");
  const asked = useDeferredValue(text.trim());
  const id = useId();
  return (
    <div className={styles.picker}>
      <label htmlFor={id}>Search sessions</label>
      <input
        id={id}
        type="search"
        className={styles.search}
        value={text}
        placeholder="Words of a session or of its title"
        onChange={(event) => setText(event.target.value)}
      />
      {asked === "" && <RecentRuns onRun={onRun} />}
      <FoundThreads text={asked} onThread={onThread} />
    </div>
  );
}

function RecentRuns({ onRun }: { onRun: (id: string) => void }) {
  const recent = useQuery({
    queryKey: ["recent-runs"],
    queryFn: async ({ signal }) => {
      const { items } = await listRuns({ limit: RECENT }, signal);
      const ids = [...new Set(items.map((run) => run.threadId))];
      const threads = ids.length ? (await findThreads({ ids, limit: RECENT }, signal)).items : [];
      const titles = new Map(threads.map((thread) => [thread.id, thread.title]));
      return items.map((run) => ({ run, title: titles.get(run.threadId) }));
    },
  });
  if (recent.error) return <Failure error={recent.error} />;
  if (!recent.data?.length) return null;
  return (
    <section aria-label="Latest runs">
      <h3 className={styles.heading}>Latest runs</h3>
      <ul className={styles.list}>
        {recent.data.map(({ run, title }) => (
          <li key={run.id}>
            <button type="button" className={styles.choice} onClick={() => onRun(run.id)}>
              <strong>{visible(title || `Untitled session ${run.threadId.slice(0, SHORT)}`)}</strong>
              <RunWords run={run} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function FoundThreads({ text, onThread }: { text: string; onThread: (id: string) => void }) {
  const found = useQuery({
    queryKey: ["threads-to-compare", text],
    queryFn: ({ signal }) => findThreads({ text, limit: FOUND }, signal),
    placeholderData: (before) => before,
  });
  if (found.error) return <Failure error={found.error} />;
  if (!found.data) return <Loading what="Looking for sessions" />;
  return (
    <section aria-label="Sessions">
      <h3 className={styles.heading}>Sessions</h3>
      {found.data.items.length === 0 && <p className={styles.soft}>No session has these words.</p>}
      <ul className={styles.list}>
        {found.data.items.map((thread: Thread) => (
          <li key={thread.id}>
            <button type="button" className={styles.choice} onClick={() => onThread(thread.id)}>
              <strong>{visible(thread.title || `Untitled session ${thread.id.slice(0, SHORT)}`)}</strong>
              <span className={styles.soft}>
                {[
                  thread.agent && visible(thread.agent),
                  thread.messageCount !== undefined && plural(thread.messageCount, "message"),
                  thread.updatedAt && ago(thread.updatedAt),
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RunsProps {
  readonly threadId: string;
  readonly onRun: (id: string) => void;
  readonly onBack: () => void;
}

function RunsOf({ threadId, onRun, onBack }: RunsProps) {
  const runs = useQuery({
    queryKey: ["runs", threadId],
    queryFn: ({ signal }) => listRuns({ threadId, limit: RUNS }, signal),
  });
  const items = runs.data?.items ?? [];
  return (
    <div className={styles.picker}>
      <Button small icon={<ArrowLeft size={14} aria-hidden />} onClick={onBack}>
        Another session
      </Button>
      {runs.error && <Failure error={runs.error} />}
      {runs.isSuccess && items.length === 0 && <p className={styles.soft}>This session has no runs.</p>}
      <ul className={styles.list}>
        {items.map((run, place) => (
          <li key={run.id}>
            <button type="button" className={styles.choice} onClick={() => onRun(run.id)}>
              <strong>{visible(runLabel(run, items.length - place))}</strong>
              <RunWords run={run} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function RunWords({ run }: { run: Run }) {
  const when = run.startedAt ?? run.createdAt;
  const tokens = (run.usage?.inputTokens ?? 0) + (run.usage?.outputTokens ?? 0);
  return (
    <span className={styles.soft}>
      {[
        run.agent && visible(run.agent),
        run.model && visible(run.model),
        run.status,
        when && ago(when),
        tokens > 0 && `${compact(tokens)} tokens`,
        run.cost !== undefined && money(run.cost),
      ]
        .filter(Boolean)
        .join(" · ")}
    </span>
  );
}
