import { ArrowLeft, ChevronsDownUp, ChevronsUpDown, Copy, ListTree, Moon, Sun } from "lucide-react";
import { startTransition, useLayoutEffect, useMemo, useState, useSyncExternalStore } from "react";
import { MANY_QUESTIONS, useOutlinePane } from "../outline/useOutlinePane";
import { conversationAsMarkdown } from "../parts/toMarkdown";
import { Boundary } from "../ui/Boundary";
import { Button, IconButton } from "../ui/Button";
import { copyWithToast } from "../ui/clipboard";
import { FoldAll } from "../ui/Fold";
import { plural } from "../ui/format";
import { Empty, Failure } from "../ui/States";
import { Toasts } from "../ui/Toasts";
import { useTitle } from "../ui/useTitle";
import { type IndexEntry, readThread, type SharedThread } from "./data";
import styles from "./Reader.module.css";
import { SharedSession } from "./SharedSession";
import { ThreadIndex, UNTITLED } from "./ThreadIndex";

/** A shared conversation, or the index of several and the one that the address names (`#thread-2`). */
export function Reader({ index }: { index: readonly IndexEntry[] | null }) {
  const isSystemDark = useSyncExternalStore(subscribeToTheme, () => SYSTEM_DARK.matches);
  const [chosenDark, setDark] = useState<boolean | null>(null);
  const isDark = chosenDark ?? isSystemDark;
  const [folds, setFolds] = useState<{ readonly open: boolean } | null>(null);
  const element = useSyncExternalStore(subscribeToAddress, selectedElement);
  const entry = index?.find((one) => one.element === element);
  const isIndex = index !== null && !entry;
  const shared = useMemo(() => (isIndex ? null : readThread(entry?.element)), [isIndex, entry]);
  const pane = useOutlinePane(
    shared ? () => (shared.overview?.turns.length ?? 0) >= MANY_QUESTIONS : undefined,
  );
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [isDark]);
  const title = index && (entry ? entry.thread.title || UNTITLED : plural(index.length, "session"));
  useTitle(title, { isAlone: true });
  return (
    <main className={styles.page}>
      <div className={styles.bar}>
        {entry && (
          <nav>
            <a className={styles.back} href="#index">
              <ArrowLeft size={14} /> All sessions
            </a>
          </nav>
        )}
        <span className={styles.space} />
        {shared && (
          <>
            <Button small kind="quiet" icon={<Copy size={14} />} onClick={() => void copy(shared)}>
              Copy as Markdown
            </Button>
            <IconButton
              label={folds?.open ? "Collapse all" : "Expand all"}
              onClick={() => startTransition(() => setFolds({ open: !folds?.open }))}
            >
              {folds?.open ? <ChevronsDownUp size={16} /> : <ChevronsUpDown size={16} />}
            </IconButton>
            {shared.overview && (
              <IconButton label="Outline" pressed={pane.isOpen} onClick={pane.toggle} data-outline-toggle>
                <ListTree size={16} />
              </IconButton>
            )}
          </>
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
            <SharedSession key={element} shared={shared} pane={pane} />
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

const SYSTEM_DARK = window.matchMedia("(prefers-color-scheme: dark)");

function subscribeToTheme(onChange: () => void): () => void {
  SYSTEM_DARK.addEventListener("change", onChange);
  return () => SYSTEM_DARK.removeEventListener("change", onChange);
}

const copy = ({ thread, messages }: SharedThread): Promise<void> =>
  copyWithToast(conversationAsMarkdown(thread.title || UNTITLED, messages), "Copied as Markdown");

const selectedElement = (): string => decodeURIComponent(window.location.hash.slice(1));

function subscribeToAddress(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}
