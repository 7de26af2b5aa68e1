import { FolderInput, MessageSquarePlus, MessagesSquare, Search, X } from "lucide-react";
import type { ReactNode } from "react";
import type { ThreadSummary } from "../api/threads";
import { IconButton } from "../ui/Button";
import { usePreference } from "../ui/preferences";
import { href, toThread } from "../ui/routing";
import styles from "./FirstSteps.module.css";

interface Props {
  /** A session of the demo data, if there is one. */
  readonly demo: ThreadSummary | undefined;
  readonly onSearch: () => void;
}

/** What this is and what to try first, until there are own sessions or the user closes it. */
export function FirstSteps({ demo, onSearch }: Props) {
  const [, setWelcome] = usePreference("welcome");
  return (
    <section className={styles.steps} aria-labelledby="first-steps">
      <header className={styles.head}>
        <h2 id="first-steps">Welcome to Partita</h2>
        <IconButton label="Do not show this again" onClick={() => setWelcome(false)}>
          <X size={15} />
        </IconButton>
      </header>
      <p className={styles.what}>
        Partita keeps every message of your AI agents on this machine, so that you can read, search, compare
        and continue their sessions.
      </p>
      <ul className={styles.list}>
        {demo && (
          <Step
            icon={<MessagesSquare size={18} aria-hidden />}
            title="Open a demo session"
            to={toThread(demo.thread.id)}
          >
            See how commands, edits and sub-agents are shown.
          </Step>
        )}
        <Step icon={<MessageSquarePlus size={18} aria-hidden />} title="Start a chat" to={href(["new"])}>
          Choose an agent and write to it; the demo agent needs no API key.
        </Step>
        <Step
          icon={<FolderInput size={18} aria-hidden />}
          title="Import a folder"
          to={href(["settings", "sources"])}
        >
          Sessions of Claude Code, Codex, Gemini CLI and OpenCode are found by themselves; add other folders
          here.
        </Step>
        <li>
          <button type="button" className={styles.step} onClick={onSearch}>
            <Search size={18} aria-hidden />
            <span>
              <strong>Search</strong>
              <span>Press / and type words, or such as tool:Bash and agent:codex.</span>
            </span>
          </button>
        </li>
      </ul>
    </section>
  );
}

interface StepProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly to: string;
  readonly children: ReactNode;
}

function Step({ icon, title, to, children }: StepProps) {
  return (
    <li>
      <a href={to} className={styles.step}>
        {icon}
        <span>
          <strong>{title}</strong>
          <span>{children}</span>
        </span>
      </a>
    </li>
  );
}
