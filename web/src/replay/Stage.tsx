import { useLayoutEffect, useRef, useSyncExternalStore } from "react";
import type { Message, Run } from "../partita.gen";
import { MessageView } from "../parts/MessageView";
import { plural } from "../ui/format";
import { ViewingProvider } from "../viewing/viewing";
import type { Frames } from "./fold";
import type { Player } from "./player";
import type { RunTimeline } from "./runTimeline";
import styles from "./Stage.module.css";
import { useMomentViewing } from "./useMomentViewing";

interface Props {
  readonly frames: Frames | undefined;
  /** What the run was asked. */
  readonly question: Message | undefined;
  readonly player: Player;
  readonly run: Run;
  readonly timeline: RunTimeline;
}

const NEAR = 80;
const DRAWN = 150;

/** The messages as they were at that moment. */
export function Stage({ frames, question, player, run, timeline }: Props) {
  const place = useSyncExternalStore(player.subscribe, () => player.snapshot().place);
  const messages = frames?.at(place).filter((one) => !one.internal) ?? [];
  const viewing = useMomentViewing(run, timeline, place);
  const box = useRef<HTMLElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown changed with the place
  useLayoutEffect(() => {
    const element = box.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [place]);
  const begun = messages.filter(
    (message) => message.content.parts.length || message.content.networkExecution,
  );
  return (
    <section
      ref={box}
      className={styles.stage}
      aria-label="Messages at this moment"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
      tabIndex={0}
      data-at={place}
      onScroll={({ currentTarget: it }) => {
        follows.current = it.scrollHeight - it.scrollTop - it.clientHeight < NEAR;
      }}
    >
      <ViewingProvider value={viewing}>
        <div className={styles.inner}>
          {question && <MessageView message={question} />}
          {begun.length > DRAWN && (
            <p className={styles.silent}>{plural(begun.length - DRAWN, "earlier message")} not drawn here.</p>
          )}
          {begun.slice(-DRAWN).map((message) => (
            <MessageView key={message.id} message={message} />
          ))}
          {!begun.length && (
            <p className={styles.silent}>
              {frames ? "The agent has not said a word yet." : "Reading the run …"}
            </p>
          )}
        </div>
      </ViewingProvider>
    </section>
  );
}
