import { useMemo, useRef, useState } from "react";
import { turnNodes } from "../outline/model";
import { OutlinePanel } from "../outline/OutlinePanel";
import type { OutlinePane } from "../outline/useOutlinePane";
import { endOf } from "../parts/end";
import type { Place } from "../session/figures";
import { Summary } from "../session/Summary";
import { moment, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import type { SharedThread } from "./data";
import styles from "./Reader.module.css";
import { FOOT, UNTITLED } from "./ThreadIndex";
import { type Target, Transcript } from "./Transcript";
import { useTopRow } from "./useTopRow";

/** A shared conversation: what happened in it, its messages and its outline. */
export function SharedSession({ shared, pane }: { shared: SharedThread; pane: OutlinePane }) {
  const { thread, messages, overview } = shared;
  const [target, setTarget] = useState<Target | null>(null);
  const box = useRef<HTMLElement>(null);
  const row = useTopRow(box, messages);
  const nodes = useMemo(() => {
    const shown = messages.map((one) => ({ id: one.id, isFailed: endOf(one)?.status === "failed" }));
    return overview ? turnNodes(overview, shown) : [];
  }, [overview, messages]);
  const show = ({ messageId, part }: Place) => setTarget({ messageId, path: part ?? "" });
  return (
    <div className={styles.columns}>
      <Transcript
        turns={overview?.turns}
        messages={messages}
        label="Conversation"
        head={<Head shared={shared} onShow={show} />}
        target={target}
        box={box}
      />
      {overview && pane.isOpen && (
        <OutlinePanel
          pane={pane}
          nodes={nodes}
          currentRow={row}
          folder={thread.project ?? undefined}
          onShow={(messageId, part) => show({ messageId, part })}
        />
      )}
    </div>
  );
}

interface HeadProps {
  readonly shared: SharedThread;
  readonly onShow: (place: Place) => void;
}

function Head({ shared: { thread, messages, overview, facts }, onShow }: HeadProps) {
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
      <h1>{visible(thread.title || UNTITLED)}</h1>
      <p>{about.filter(Boolean).join(" · ")}</p>
      {overview && <Summary overview={overview} onShow={onShow} wraps />}
      {changes.length > 0 && <p>{changes.join(", ")}.</p>}
      <p className={styles.foot}>{FOOT}</p>
    </header>
  );
}
