import type { ThreadSummary } from "../api/threads";
import { ImportBar } from "../threads/ImportBar";
import { activeCommands } from "../ui/commands";
import { lazyComponent } from "../ui/lazyModule";
import { usePreference } from "../ui/preferences";
import { href, usePlace } from "../ui/routing";
import { Empty, Failure, Loading } from "../ui/States";
import { useNow } from "../ui/useNow";
import { useTitle } from "../ui/useTitle";
import { Active } from "./Active";
import { FirstSteps } from "./FirstSteps";
import styles from "./Home.module.css";
import { type HomeSessions, useHomeFeed, useSessions, useWeek } from "./queries";
import { Section } from "./Section";
import { SessionCard } from "./SessionCard";
import { Sources } from "./Sources";
import { Week } from "./Week";

const Days = lazyComponent(() => import("../analytics/Days").then((it) => it.Days));

/** Sessions that were opened last in this browser, and other recent ones, which are shown as cards. */
const OPENED = 3;
const RECENT = 6;

const isDemo = (row: ThreadSummary): boolean => row.thread.metadata?.demo === true;

/** The first screen: what runs now, where the user left off, and what happened lately. */
export function Home() {
  const sessions = useSessions();
  const week = useWeek();
  const progress = useHomeFeed();
  useTitle(usePlace().path[0] === "sessions" ? "Sessions" : "Home");
  return (
    <div className={styles.home}>
      <header className={styles.top}>
        <h1>Home</h1>
        <ImportBar status={progress} />
      </header>
      {sessions.error && !sessions.data ? (
        <Failure error={sessions.error} retry={() => void sessions.refetch()} />
      ) : sessions.data ? (
        <>
          <Welcome sessions={sessions.data} />
          <Sessions sessions={sessions.data} isImporting={progress?.state === "reading"} />
          <Section title="Last 7 days" more={<a href={href(["analytics"])}>All statistics</a>}>
            <Week week={week.data} />
          </Section>
          <div className={styles.days}>
            <Days />
          </div>
          <Sources />
        </>
      ) : (
        <Loading />
      )}
    </div>
  );
}

function Welcome({ sessions }: { sessions: HomeSessions }) {
  const [welcome] = usePreference("welcome");
  if (!welcome || !sessions.recent.every(isDemo)) return null;
  const search = () =>
    activeCommands()
      .find((one) => one.keys === "/")
      ?.run();
  return (
    <FirstSteps
      demo={sessions.recent.find((row) => row.thread.project) ?? sessions.recent[0]}
      onSearch={search}
    />
  );
}

function Sessions({ sessions, isImporting }: { sessions: HomeSessions; isImporting: boolean }) {
  const now = useNow();
  const opened = sessions.opened.slice(0, OPENED);
  const shown = new Set([...opened, ...sessions.active].map((row) => row.thread.id));
  const others = sessions.recent
    .filter((row) => !shown.has(row.thread.id) && row.thread.messageCount)
    .slice(0, RECENT);
  return (
    <>
      <Section title="Running and waiting">
        <Active rows={sessions.active} now={now} />
      </Section>
      {opened.length > 0 && (
        <Section title="Continue where you left off">
          <Cards rows={opened} now={now} />
        </Section>
      )}
      <Section
        title="Recent sessions"
        more={
          <a className={styles.all} href={href(["sessions"])}>
            All sessions
          </a>
        }
      >
        {others.length ? (
          <Cards rows={others} now={now} />
        ) : (
          <Empty
            title={
              isImporting ? "Importing sessions" : opened.length ? "No other sessions" : "No sessions yet"
            }
          >
            {isImporting ? <p>They appear here one by one.</p> : null}
          </Empty>
        )}
      </Section>
    </>
  );
}

function Cards({ rows, now }: { rows: readonly ThreadSummary[]; now: number }) {
  return (
    <ul className={styles.cards}>
      {rows.map((row) => (
        <li key={row.thread.id}>
          <SessionCard row={row} now={now} />
        </li>
      ))}
    </ul>
  );
}
