import { GitCommitHorizontal, GitPullRequest } from "lucide-react";
import type { ReactNode } from "react";
import { commitUrlAt, useSessionFacts } from "../context/sessionFacts";
import type { ToolView } from "../partita.gen";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import styles from "./Commits.module.css";

/** The commits and pull requests that a command made. */
export function Commits({ view }: { view: ToolView | undefined }) {
  const facts = useSessionFacts();
  const { commits = [], pullRequests = [] } = view?.kind === "command" ? view : {};
  if (!commits.length && !pullRequests.length) return null;
  return (
    <ul className={styles.list} aria-label="Commits and pull requests">
      {commits.map(({ hash, subject }) => (
        <li key={hash}>
          <Chip href={safeHref(commitUrlAt(hash, facts) ?? "")} title={subject}>
            <GitCommitHorizontal size={14} aria-hidden />
            <code>{visible(hash.slice(0, 7))}</code>
            <span className={styles.subject}>{visible(subject)}</span>
          </Chip>
        </li>
      ))}
      {pullRequests.map((url) => (
        <li key={url}>
          <Chip href={safeHref(url)} title={url}>
            <GitPullRequest size={14} aria-hidden />
            <span className={styles.subject}>{visible(url.replace(/^https?:\/\//, ""))}</span>
          </Chip>
        </li>
      ))}
    </ul>
  );
}

function Chip({ href, title, children }: { href: string | null; title: string; children: ReactNode }) {
  return href ? (
    <a className={styles.chip} href={href} title={visible(title)} {...EXTERNAL_LINK}>
      {children}
    </a>
  ) : (
    <span className={styles.chip} title={visible(title)}>
      {children}
    </span>
  );
}
