import { GitBranch } from "lucide-react";
import type { ReactNode } from "react";
import type { Thread, ThreadOverview } from "../partita.gen";
import { AgentMark, agentName } from "../ui/AgentMark";
import { clock, day, moment, plural } from "../ui/format";
import { href } from "../ui/routing";
import { EXTERNAL_LINK, visible } from "../ui/sanitize";
import styles from "./HeaderFacts.module.css";

interface Props {
  readonly thread: Thread | undefined;
  /** The path of the repository or of the project. */
  readonly repository: string | null | undefined;
  readonly overview: ThreadOverview | undefined;
  readonly models: readonly string[];
  readonly state: "Running" | "Waiting" | null;
}

/** The agent, repository, branch, models, start and length of a session on one line. What has no room is left out. */
export function HeaderFacts({ thread, repository, overview, models, state }: Props) {
  if (!thread) return <p className={styles.facts} />;
  const branch = overview?.branch ?? branchOf(thread);
  const origin = originOf(thread);
  return (
    <p className={styles.facts}>
      {state && (
        <span className={styles.state} data-session-state={state}>
          {state}
        </span>
      )}
      <span className={styles.fact}>
        <AgentMark agent={thread.agent} size={16} /> {visible(agentName(thread.agent))}
      </span>
      <span className={styles.fact}>{plural(thread.messageCount ?? 0, "message")}</span>
      {repository && (
        <Fact title={repository} url={overview?.repositoryUrl}>
          {visible(lastStep(repository))}
        </Fact>
      )}
      {branch && (
        <Fact title={`Branch ${branch}`} url={overview?.branchUrl}>
          <GitBranch size={12} aria-hidden /> {visible(branch)}
        </Fact>
      )}
      {thread.createdAt && (
        <time className={styles.fact} dateTime={thread.createdAt} title={moment(thread.createdAt)}>
          {day(thread.createdAt)}, {clock(thread.createdAt)}
        </time>
      )}
      {models.length > 0 && (
        <span className={styles.fact} title={visible(models.join(", "))}>
          {visible(models[0] ?? "")}
          {models.length > 1 && ` +${models.length - 1}`}
        </span>
      )}
      {origin && (
        <a className={styles.fact} href={origin} title="The session this one was forked from">
          forked
        </a>
      )}
    </p>
  );
}

interface FactProps {
  readonly title: string;
  readonly url: string | null | undefined;
  readonly children: ReactNode;
}

function Fact({ title, url, children }: FactProps) {
  const name = visible(title);
  if (!url || !/^https?:/.test(url))
    return (
      <span className={styles.fact} title={name}>
        {children}
      </span>
    );
  return (
    <a className={styles.fact} href={url} title={name} {...EXTERNAL_LINK}>
      {children}
    </a>
  );
}

function branchOf({ metadata }: Thread): string | null {
  const branch = metadata?.gitBranch;
  return typeof branch === "string" ? branch : null;
}

/** The link to the message that a copy was forked from. */
function originOf({ metadata }: Thread): string | null {
  const clone = metadata?.clone as { threadId?: unknown; messageId?: unknown } | null | undefined;
  if (typeof clone?.threadId !== "string") return null;
  return href(["t", clone.threadId], typeof clone.messageId === "string" ? { m: clone.messageId } : {});
}

const lastStep = (path: string): string => path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
