import { ArrowLeft, ChevronsDownUp, ChevronsUpDown, Copy, Moon, Sun } from "lucide-react";
import { startTransition, useLayoutEffect, useMemo, useState, useSyncExternalStore } from "react";
import { conversationAsMarkdown } from "../parts/toMarkdown";
import { Boundary } from "../ui/Boundary";
import { Button, IconButton } from "../ui/Button";
import { copyWithToast } from "../ui/clipboard";
import { FoldAll } from "../ui/Fold";
import { moment, plural } from "../ui/format";
import { Empty, Failure } from "../ui/States";
import { visible } from "../ui/sanitize";
import { Toasts } from "../ui/Toasts";
import { useTitle } from "../ui/useTitle";
import { type IndexEntry, readThread, type SharedThread } from "./data";
import styles from "./Reader.module.css";
import { FOOT, ThreadIndex, UNTITLED } from "./ThreadIndex";
import { Transcript } from "./Transcript";

/** A shared conversation, or the index of several and the one that the address names (`#thread-2`). */
export function Reader({ index }: { index: readonly IndexEntry[] | null }) {
  const [isDark, setDark] = useState(() => window.matchMedia("(prefers-color-scheme: dark)").matches);
  const [folds, setFolds] = useState<{ readonly open: boolean } | null>(null);
  const element = useSyncExternalStore(subscribeToAddress, selectedElement);
  const entry = index?.find((one) => one.element === element);
  const isIndex = index !== null && !entry;
  const shared = useMemo(() => (isIndex ? null : readThread(entry?.element)), [isIndex, entry]);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [isDark]);
  const title = index && (entry ? entry.thread.title || UNTITLED : plural(index.length, "thread"));
  useTitle(title, { isAlone: true });
  return (
    <main className={styles.page}>
      <div className={styles.buttons}>
        {shared && (
          <Button small kind="quiet" icon={<Copy size={14} />} onClick={() => void copy(shared)}>
            Copy as Markdown
          </Button>
        )}
        {!isIndex && (
          <IconButton
            label={folds?.open ? "Collapse all" : "Expand all"}
            onClick={() => startTransition(() => setFolds({ open: !folds?.open }))}
          >
            {folds?.open ? <ChevronsDownUp size={16} /> : <ChevronsUpDown size={16} />}
          </IconButton>
        )}
        <IconButton label={isDark ? "Light colours" : "Dark colours"} onClick={() => setDark(!isDark)}>
          {isDark ? <Sun size={16} /> : <Moon size={16} />}
        </IconButton>
      </div>
      <Boundary value={shared} fallback={(error) => <Failure error={error} />}>
        {isIndex ? (
          <ThreadIndex entries={index} />
        ) : shared ? (
          <FoldAll.Provider value={folds}>
            <Transcript
              key={element}
              messages={shared.messages}
              label="Conversation"
              head={<Head shared={shared} isOneOfSeveral={index !== null} />}
            />
          </FoldAll.Provider>
        ) : (
          <Empty title="This file is damaged">
            Its data cannot be read. Ask the sender for another copy.
          </Empty>
        )}
      </Boundary>
      <Toasts />
    </main>
  );
}

const copy = ({ thread, messages }: SharedThread): Promise<void> =>
  copyWithToast(conversationAsMarkdown(thread.title || UNTITLED, messages), "Copied as Markdown");

const selectedElement = (): string => decodeURIComponent(window.location.hash.slice(1));

function subscribeToAddress(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}

interface HeadProps {
  readonly shared: SharedThread;
  readonly isOneOfSeveral: boolean;
}

function Head({ shared: { thread, messages, facts }, isOneOfSeveral }: HeadProps) {
  const about = [
    thread.agent && visible(thread.agent),
    thread.project && visible(thread.project),
    thread.createdAt && moment(thread.createdAt),
    plural(messages.length, "message"),
  ];
  const changes = [
    facts.redacted ? `${plural(facts.redacted, "secret was", "secrets were")} replaced` : null,
    facts.leftOut ? `${plural(facts.leftOut, "item was", "items were")} left out` : null,
    facts.filesLeftOut ? `${plural(facts.filesLeftOut, "file was", "files were")} too large` : null,
  ].filter(Boolean);
  return (
    <header className={styles.head}>
      {isOneOfSeveral && (
        <nav>
          <a className={styles.back} href="#index">
            <ArrowLeft size={14} /> All threads
          </a>
        </nav>
      )}
      <h1>{visible(thread.title || UNTITLED)}</h1>
      <p>{about.filter(Boolean).join(" · ")}</p>
      {changes.length > 0 && <p>{changes.join(", ")}.</p>}
      <p className={styles.foot}>{FOOT}</p>
    </header>
  );
}
