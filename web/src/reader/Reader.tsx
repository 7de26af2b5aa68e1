import { ChevronsDownUp, ChevronsUpDown, Moon, Sun } from "lucide-react";
import { startTransition, useLayoutEffect, useState } from "react";
import { Boundary } from "../ui/Boundary";
import { IconButton } from "../ui/Button";
import { FoldAll } from "../ui/Fold";
import { moment, plural } from "../ui/format";
import { Empty, Failure } from "../ui/States";
import { visible } from "../ui/sanitize";
import { Toasts } from "../ui/Toasts";
import type { SharedThread } from "./data";
import styles from "./Reader.module.css";
import { Transcript } from "./Transcript";

/** A shared conversation. */
export function Reader({ shared }: { shared: SharedThread | null }) {
  const [isDark, setDark] = useState(() => window.matchMedia("(prefers-color-scheme: dark)").matches);
  const [folds, setFolds] = useState<{ readonly open: boolean } | null>(null);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [isDark]);
  return (
    <main className={styles.page}>
      <div className={styles.buttons}>
        <IconButton
          label={folds?.open ? "Collapse all" : "Expand all"}
          onClick={() => startTransition(() => setFolds({ open: !folds?.open }))}
        >
          {folds?.open ? <ChevronsDownUp size={16} /> : <ChevronsUpDown size={16} />}
        </IconButton>
        <IconButton label={isDark ? "Light colours" : "Dark colours"} onClick={() => setDark(!isDark)}>
          {isDark ? <Sun size={16} /> : <Moon size={16} />}
        </IconButton>
      </div>
      <Boundary value={shared} fallback={(error) => <Failure error={error} />}>
        {shared ? (
          <FoldAll.Provider value={folds}>
            <Transcript messages={shared.messages} label="Conversation" head={<Head shared={shared} />} />
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

function Head({ shared: { thread, messages, facts } }: { shared: SharedThread }) {
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
      <h1>{visible(thread.title || "A conversation")}</h1>
      <p>{about.filter(Boolean).join(" · ")}</p>
      {changes.length > 0 && <p>{changes.join(", ")}.</p>}
      <p className={styles.foot}>
        SharedThread with Partita. This file is complete and loads nothing from the network.
      </p>
    </header>
  );
}
