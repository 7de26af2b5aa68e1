import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { findMessage } from "../api/runs";
import type { Message, Run } from "../partita.gen";
import { useHotkeys } from "../ui/hotkeys";
import { toRun } from "../ui/routing";
import { Controls, type Silence } from "./Controls";
import { EventDetail } from "./EventDetail";
import { EventList } from "./EventList";
import { Pacing } from "./pacing";
import { PAGE_CLOCK, Player } from "./player";
import styles from "./Replay.module.css";
import { RunHeader } from "./RunHeader";
import type { Progress, RunTimeline } from "./runTimeline";
import { Scrubber } from "./Scrubber";
import { Stage } from "./Stage";
import { stepped, type Walk, walkOf } from "./steps";
import { Tabs } from "./Tabs";
import { useLinkedMoment } from "./useLinkedMoment";
import { useSpace } from "./useSpace";

const LONG_RUN = 120_000;

interface Props {
  readonly run: Run;
  readonly timeline: RunTimeline;
  readonly progress: Progress;
  readonly at: string | null;
}

/** The scrubber, the messages of the moment, and the events beside them. */
export function Theatre({ run, timeline, progress, at }: Props) {
  const { events, times, outline } = timeline;
  const { loaded, total, atWork, retold, startedAt } = progress;
  const end = times[loaded - 1] ?? 0;
  const [player] = useState(() => new Player(PAGE_CLOCK));
  const [chosen, setSilence] = useState<Silence | null>(null);
  // An hour with a few words in it is no fun to watch: what is long is shown short unless somebody says otherwise.
  const silence = chosen ?? { skip: end > LONG_RUN, seconds: 2 };
  const longest = silence.skip ? silence.seconds * 1000 : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list of times is the same one and grows
  const pacing = useMemo(() => new Pacing(times, longest), [times, longest, loaded]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: likewise
  const segments = useMemo(() => outline.segments(), [outline, loaded]);
  player.load(times, pacing, atWork || !progress.complete);
  useEffect(() => () => player.pause(), [player]);
  useLinkedMoment(run.id, at, player, timeline, progress);
  const question = useQuestion(run);

  const walk = (step: Walk) => {
    player.pause();
    player.goTo(stepped(step, player.snapshot().place, times.length, outline.parts));
  };
  const onKey = (event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">) => {
    const step = walkOf(event);
    if (event.key === " ") player.toggle();
    else if (step) walk(step);
    return step !== null || event.key === " ";
  };
  useSpace(() => player.toggle());
  useHotkeys([
    { keys: "Space", what: "Play or pause", run: () => player.toggle() },
    { keys: "ArrowLeft", what: "Back one event; with Shift, one part", run: onKey },
    { keys: "ArrowRight", what: "On one event; with Shift, one part", run: onKey },
    { keys: "Home", what: "To the start of the run", run: onKey },
    { keys: "End", what: "To the end of the run", run: onKey },
    { keys: "<", what: "Slower", run: () => player.shift(-1) },
    { keys: ">", what: "Faster", run: () => player.shift(1) },
    { keys: "s", what: "Skip silence, or not", run: () => setSilence({ ...silence, skip: !silence.skip }) },
  ]);
  const link = () =>
    new URL(toRun(run.id, events[player.snapshot().place - 1]?.seq ?? 0), location.href).href;
  return (
    <div className={styles.replay}>
      <div className={styles.top}>
        <RunHeader run={run} link={link} />
        <Scrubber
          player={player}
          pacing={pacing}
          times={times}
          loaded={loaded}
          total={total}
          segments={segments}
          steps={outline.steps}
          onKey={onKey}
        />
        <Controls
          player={player}
          walk={walk}
          end={end}
          total={total}
          startedAt={startedAt}
          silence={silence}
          onSilence={setSilence}
        />
        <Legend skipped={pacing.gaps.length} retold={retold} />
      </div>
      <Tabs
        tabs={[
          {
            name: "Messages",
            content: <Stage question={question} player={player} run={run} progress={progress} />,
          },
          {
            name: "Event",
            content: <EventDetail runId={run.id} events={events} player={player} retold={retold} />,
          },
          {
            name: "Events",
            content: <EventList events={events} loaded={loaded} player={player} onKey={onKey} />,
          },
        ]}
      />
    </div>
  );
}

function Legend({ skipped, retold }: { skipped: number; retold: boolean }) {
  return (
    <ul className={styles.legend} aria-label="Lanes of the track, from above">
      <li data-lane="density">events</li>
      <li data-lane="reasoning">reasoning</li>
      <li data-lane="text">text</li>
      <li data-lane="tool">tools</li>
      <li data-lane="step">step</li>
      {skipped > 0 && (
        <li data-lane="gap">{skipped === 1 ? "1 silence shortened" : `${skipped} silences shortened`}</li>
      )}
      {retold && <li className={styles.retold}>Imported: told once more from its messages</li>}
    </ul>
  );
}

/** What the run was asked: the message that its own follows. */
function useQuestion(run: Run): Message | undefined {
  const { threadId, messageId, status } = run;
  const asked = useQuery({
    queryKey: ["question", threadId, messageId, status],
    enabled: messageId !== undefined,
    queryFn: async ({ signal }) => {
      const parentId = (await findMessage(threadId, messageId ?? "", signal))?.parentId;
      const before = parentId && (await findMessage(threadId, parentId, signal));
      return before && before.role === "user" ? before : null;
    },
  });
  return asked.data ?? undefined;
}
