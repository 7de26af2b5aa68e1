import { ArrowLeft, TableOfContents } from "lucide-react";
import type { UsageTotals } from "../api/messages";
import type { Thread } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { compact, money, plural } from "../ui/format";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { href } from "../ui/routing";
import { visible } from "../ui/sanitize";
import styles from "./Header.module.css";
import type { OutlinePane } from "./useOutlinePane";

interface Props {
  readonly thread: Thread | undefined;
  readonly count: number;
  readonly models: readonly string[];
  readonly usage: UsageTotals | undefined;
  readonly busy: boolean;
  readonly items: readonly MenuItem[];
  readonly pane: OutlinePane;
}

/** The title of a session, its project, agent, models, length and cost. */
export function Header({ thread, count, models, usage, busy, items, pane }: Props) {
  const about = [thread?.project && shortPath(thread.project), thread?.agent, ...models.slice(0, 3)];
  const origin = originOf(thread);
  const title = thread && visible(thread.title || "Untitled session");
  const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
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
      <div className={styles.text}>
        <h1 title={title}>{title ?? "…"}</h1>
        <p className={styles.about}>
          {about.filter(Boolean).map((one) => (
            <span key={one} className={styles.fact} title={visible(one ?? "")}>
              {visible(one ?? "")}
            </span>
          ))}
          {origin && (
            <a className={styles.fact} href={origin} title="The session this one was forked from">
              forked
            </a>
          )}
          <span className={styles.fact}>{plural(count, "message")}</span>
          {tokens > 0 && <span className={styles.fact}>{compact(tokens)} tokens</span>}
          {usage?.cost != null && <span className={styles.fact}>{money(usage.cost)}</span>}
          {busy && <span className={styles.busy}>running</span>}
        </p>
      </div>
      <IconButton label="Outline" pressed={pane.isOpen} onClick={pane.toggle} data-outline-toggle>
        <TableOfContents size={16} />
      </IconButton>
      <MenuButton label="More" items={items} />
    </header>
  );
}

/** The link to the message that a copy was forked from. */
function originOf(thread: Thread | undefined): string | null {
  const clone = thread?.metadata?.clone as { threadId?: unknown; messageId?: unknown } | null | undefined;
  if (typeof clone?.threadId !== "string") return null;
  return href(["t", clone.threadId], typeof clone.messageId === "string" ? { m: clone.messageId } : {});
}

/** The last two folders of a path. */
const shortPath = (path: string): string => {
  const steps = path.split(/[/\\]/).filter(Boolean);
  return steps.length > 2 ? `…/${steps.slice(-2).join("/")}` : path;
};
