import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import type { ThreadSummary } from "../api/threads";
import type { Thread, ThreadOverview } from "../partita.gen";
import { href } from "../ui/routing";
import { visible } from "../ui/sanitize";
import { useTitle } from "../ui/useTitle";
import styles from "./Header.module.css";
import { HeaderFacts } from "./HeaderFacts";

interface Props {
  readonly thread: Thread | undefined;
  readonly summary: ThreadSummary | undefined;
  readonly isLoading: boolean;
  readonly overview: ThreadOverview | undefined;
  readonly models: readonly string[];
  readonly isRunning: boolean;
  readonly isWaiting: boolean;
  readonly actions: ReactNode;
}

const UNTITLED = "Untitled";

/** The title and the facts of a session, and its actions. */
export function Header(props: Props) {
  const { thread, summary, isLoading, isRunning, isWaiting } = props;
  const title = isLoading ? null : summary?.title?.trim() || thread?.title?.trim() || (thread && UNTITLED);
  useTitle(title, { isActive: isRunning || isWaiting });
  return (
    <header className={styles.header}>
      <a
        className={styles.back}
        href={href(["sessions"])}
        aria-label="Back to the sessions"
        title="Back to the sessions"
      >
        <ArrowLeft size={17} />
      </a>
      <h1 className={styles.title} title={title ? visible(thread?.title || title) : undefined}>
        {title ? visible(title) : "…"}
      </h1>
      <HeaderFacts
        thread={thread}
        repository={summary?.repository ?? thread?.project}
        overview={props.overview}
        models={props.models}
        state={isWaiting ? "Waiting" : isRunning ? "Running" : null}
      />
      <div className={styles.actions}>{props.actions}</div>
    </header>
  );
}
