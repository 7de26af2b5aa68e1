import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useDeferredValue, useId, useState } from "react";
import { findThreads, listRuns } from "../api/runs";
import type { Run, Thread } from "../partita.gen";
import { runLabel } from "../replay/RunHeader";
import { Button } from "../ui/Button";
import { ago, compact, money, plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import styles from "./RunPicker.module.css";

const MAX_RECENT = 12;
const MAX_RESULTS = 30;
const MAX_RUNS = 200;
const SHORT_ID = 12;

interface Props {
  /** The session to open first. */
  readonly first?: string;
  readonly onChoose: (runId: string) => void;
}

/** Selects a run: a recent one, or one of a session. */
export function RunPicker({ first, onChoose }: Props) {
  const [thread, setThread] = useState(first);
  return thread === undefined ? (
    <Threads onRun={onChoose} onThread={setThread} />
  ) : (
    <SessionRuns threadId={thread} onRun={onChoose} onBack={() => setThread(undefined)} />
  );
}

interface ThreadsProps {
  readonly onRun: (id: string) => void;
  readonly onThread: (id: string) => void;
}

function Threads({ onRun, onThread }: ThreadsProps) {
  const [text, setText] = useState("");
  const searchText = useDeferredValue(text.trim());
  const id = useId();
  return (
    <div className={styles.picker}>
      <label htmlFor={id}>Search sessions</label>
      <input
        id={id}
        type="search"
        className={styles.search}
        value={text}
        placeholder="Text in a session or its title"
        onChange={(event) => setText(event.target.value)}
      />
      {searchText === "" && <RecentRuns onRun={onRun} />}
      <MatchingSessions text={searchText} onThread={onThread} />
    </div>
  );
}

function RecentRuns({ onRun }: { onRun: (id: string) => void }) {
  const recent = useQuery({
    queryKey: ["recent-runs"],
    queryFn: async ({ signal }) => {
      const { items } = await listRuns({ limit: MAX_RECENT }, signal);
      const ids = [...new Set(items.map((run) => run.threadId))];
      const threads = ids.length ? (await findThreads({ ids, limit: MAX_RECENT }, signal)).items : [];
      const titles = new Map(threads.map((thread) => [thread.id, thread.title]));
      return items.map((run) => ({ run, title: titles.get(run.threadId) }));
    },
  });
  if (recent.error) return <Failure error={recent.error} />;
  if (!recent.data?.length) return null;
  return (
    <section aria-label="Recent runs">
      <h3 className={styles.heading}>Recent runs</h3>
      <ul className={styles.list}>
        {recent.data.map(({ run, title }) => (
          <li key={run.id}>
            <button type="button" className={styles.choice} onClick={() => onRun(run.id)}>
              <strong>{visible(title || `Untitled session ${run.threadId.slice(0, SHORT_ID)}`)}</strong>
              <RunFacts run={run} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function MatchingSessions({ text, onThread }: { text: string; onThread: (id: string) => void }) {
  const found = useQuery({
    queryKey: ["threads-to-compare", text],
    queryFn: ({ signal }) => findThreads({ text, limit: MAX_RESULTS }, signal),
    placeholderData: (before) => before,
  });
  if (found.error) return <Failure error={found.error} />;
  if (!found.data) return <Loading what="Searching" />;
  return (
    <section aria-label="Sessions">
      <h3 className={styles.heading}>Sessions</h3>
      {found.data.items.length === 0 && <p className={styles.soft}>No matching sessions.</p>}
      <ul className={styles.list}>
        {found.data.items.map((thread: Thread) => (
          <li key={thread.id}>
            <button type="button" className={styles.choice} onClick={() => onThread(thread.id)}>
              <strong>{visible(thread.title || `Untitled session ${thread.id.slice(0, SHORT_ID)}`)}</strong>
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

function SessionRuns({ threadId, onRun, onBack }: RunsProps) {
  const runs = useQuery({
    queryKey: ["runs", threadId],
    queryFn: ({ signal }) => listRuns({ threadId, limit: MAX_RUNS }, signal),
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
        {items.map((run, index) => (
          <li key={run.id}>
            <button type="button" className={styles.choice} onClick={() => onRun(run.id)}>
              <strong>{visible(runLabel(run, items.length - index))}</strong>
              <RunFacts run={run} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function RunFacts({ run }: { run: Run }) {
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
