import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { RenderProvider } from "../context/renderContext";
import type { Message, Run } from "../partita.gen";
import { MessageView } from "../parts/MessageView";
import { useEndAnchor, useStickToEnd } from "../ui/useStickToEnd";
import styles from "./MessagePane.module.css";
import type { Player } from "./player";
import type { Progress } from "./runTimeline";
import { useReplayContext } from "./useReplayContext";

interface Props {
  /** The user message that the run answers: null if there is none, undefined while it is loading. */
  readonly question: Message | null | undefined;
  readonly player: Player;
  readonly run: Run;
  readonly progress: Progress;
}

const END_THRESHOLD = 80;
const ESTIMATED_HEIGHT = 120;

/** The messages at the current position, as a virtual list. */
export function MessagePane({ question, player, run, progress }: Props) {
  const { history } = progress;
  const position = useSyncExternalStore(player.subscribe, () => player.snapshot().position);
  const messages = history?.at(position);
  const shown = useMemo(() => messages?.filter(isVisible) ?? [], [messages]);
  const rows = useMemo(() => (question ? [question, ...shown] : shown), [question, shown]);
  const context = useReplayContext(run, progress, position);
  const box = useRef<HTMLElement>(null);
  const end = useEndAnchor(true, END_THRESHOLD);
  const list = useVirtualizer<HTMLElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ESTIMATED_HEIGHT,
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 32,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: end.threshold,
    scrollToFn: end.scrollTo,
    initialRect: { width: 800, height: 800 },
  });
  useStickToEnd(end, list, box);
  const isLoaded = question !== undefined;
  const [isReady, setReady] = useState(false);
  useLayoutEffect(() => {
    if (isLoaded) setReady(true); // the first rows appear together, measured
  }, [isLoaded]);
  return (
    <section
      ref={box}
      className={styles.pane}
      aria-label="Messages at this position"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      data-at={position}
      data-ready={isReady}
    >
      <div className={styles.sizer} style={{ height: list.getTotalSize() }}>
        <RenderProvider value={context}>
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
        </RenderProvider>
      </div>
      {!shown.length && (
        <p className={styles.empty}>
          {history ? "The agent has not sent anything yet." : "Loading the run …"}
        </p>
      )}
    </section>
  );
}

/** Whether a message is not internal and has content. */
const isVisible = ({ internal, content }: Message & { content: { networkExecution?: unknown } }): boolean =>
  !internal && Boolean(content.parts.length || content.networkExecution);
