import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useMemo, useRef, useSyncExternalStore } from "react";
import type { Message, Run } from "../partita.gen";
import { MessageView } from "../parts/MessageView";
import { useEnd, useKeepEnd } from "../ui/useEnd";
import { ViewingProvider } from "../viewing/viewing";
import type { Player } from "./player";
import type { Progress } from "./runTimeline";
import styles from "./Stage.module.css";
import { useMomentViewing } from "./useMomentViewing";

interface Props {
  /** What the run was asked. */
  readonly question: Message | undefined;
  readonly player: Player;
  readonly run: Run;
  readonly progress: Progress;
}

const NEAR = 80;
const ABOUT = 120;

/** The messages as they were at that moment; those that are seen are drawn. */
export function Stage({ question, player, run, progress }: Props) {
  const { frames } = progress;
  const place = useSyncExternalStore(player.subscribe, () => player.snapshot().place);
  const messages = frames?.at(place);
  const begun = useMemo(() => messages?.filter(isSeen) ?? [], [messages]);
  const rows = useMemo(() => (question ? [question, ...begun] : begun), [question, begun]);
  const viewing = useMomentViewing(run, progress, place);
  const box = useRef<HTMLElement>(null);
  const end = useEnd(true);
  const list = useVirtualizer<HTMLElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ABOUT,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 32,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR,
    scrollToFn: end.scrollTo,
    initialRect: { width: 800, height: 800 },
  });
  useKeepEnd(end, list, box);
  return (
    <section
      ref={box}
      className={styles.stage}
      aria-label="Messages at this moment"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
      tabIndex={0}
      data-at={place}
    >
      <div className={styles.sizer} style={{ height: list.getTotalSize() }}>
        <ViewingProvider value={viewing}>
          {list.getVirtualItems().map(({ index, key, start }) => {
            const message = rows[index];
            return (
              message && (
                <div
                  key={key}
                  ref={list.measureElement}
                  className={styles.row}
                  style={{ top: start }}
                  data-index={index}
                >
                  <MessageView message={message} />
                </div>
              )
            );
          })}
        </ViewingProvider>
      </div>
      {!begun.length && (
        <p className={styles.silent}>{frames ? "The agent has not said a word yet." : "Reading the run …"}</p>
      )}
    </section>
  );
}

/** Whether a message is for readers, and has something to show. */
const isSeen = ({ internal, content }: Message & { content: { networkExecution?: unknown } }): boolean =>
  !internal && Boolean(content.parts.length || content.networkExecution);
