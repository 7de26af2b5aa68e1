import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { findMessage } from "../api/runs";
import type { Message, Run } from "../partita.gen";
import { useCommands } from "../ui/commands";
import { toRun } from "../ui/routing";
import { Controls, type Silence } from "./Controls";
import { EventDetail } from "./EventDetail";
import { EventList } from "./EventList";
import { MessagePane } from "./MessagePane";
import { positionAfter, type Step, stepForKey } from "./navigation";
import { Panes } from "./Panes";
import { Pacing } from "./pacing";
import { PAGE_CLOCK, Player } from "./player";
import styles from "./Replay.module.css";
import { RunHeader } from "./RunHeader";
import type { Progress, RunTimeline } from "./runTimeline";
import { Scrubber } from "./Scrubber";
import { useSpaceKey } from "./useSpaceKey";
import { useUrlPosition } from "./useUrlPosition";

interface Props {
  readonly run: Run;
  readonly timeline: RunTimeline;
  readonly progress: Progress;
  readonly at: string | null;
}

/** The controls, the messages and the events of a run. */
export function ReplayPlayer({ run, timeline, progress, at }: Props) {
  const { events, times, outline } = timeline;
  const { loaded, total, isActive, isImported, startedAt } = progress;
  const end = times[loaded - 1] ?? 0;
  const [player] = useState(() => new Player(PAGE_CLOCK));
  const [silence, setSilence] = useState<Silence>({ skip: true, seconds: 2 });
  const longest = silence.skip ? silence.seconds * 1000 : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the array of times is mutable and grows
  const pacing = useMemo(() => new Pacing(times, longest), [times, longest, loaded]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const segments = useMemo(() => outline.segments(), [outline, loaded]);
  player.load(times, pacing, isActive || !progress.complete);
  useEffect(() => () => player.pause(), [player]);
  useUrlPosition(run.id, at, player, timeline, progress);
  const question = useQuestion(run.threadId, progress.question);

  const goStep = (step: Step) => {
    player.pause();
    player.goTo(positionAfter(step, player.snapshot().position, times.length, outline.parts));
  };
  const onKey = (event?: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">) => {
    if (!event) return false;
    const step = stepForKey(event);
    if (event.key === " ") player.toggle();
    else if (step) goStep(step);
    return step !== null || event.key === " ";
  };
  useSpaceKey(() => player.toggle());
  useCommands([
    { keys: "Space", what: "Play or pause", group: "Replay", run: () => player.toggle() },
    {
      keys: "ArrowLeft",
      what: "Back one event; with Shift, one part",
      group: "Replay",
      keysOnly: true,
      run: onKey,
    },
    {
      keys: "ArrowRight",
      what: "Forward one event; with Shift, one part",
      group: "Replay",
      keysOnly: true,
      run: onKey,
    },
    { keys: "Home", what: "Go to the start of the run", group: "Replay", keysOnly: true, run: onKey },
    { keys: "End", what: "Go to the end of the run", group: "Replay", keysOnly: true, run: onKey },
    { keys: "<", what: "Slower", group: "Replay", run: () => player.changeSpeed(-1) },
    { keys: ">", what: "Faster", group: "Replay", run: () => player.changeSpeed(1) },
    {
      keys: "s",
      what: "Shorten pauses, or play them in full",
      group: "Replay",
      run: () => setSilence({ ...silence, skip: !silence.skip }),
    },
  ]);
  const link = () =>
    new URL(toRun(run.id, events[player.snapshot().position - 1]?.seq ?? 0), location.href).href;
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
          onStep={goStep}
          end={end}
          total={total}
          startedAt={startedAt}
          silence={silence}
          onSilence={setSilence}
        />
        <Legend skipped={pacing.gaps.length} isImported={isImported} />
      </div>
      <Panes
        panes={[
          {
            name: "Messages",
            content: <MessagePane question={question} player={player} run={run} progress={progress} />,
          },
          {
            name: "Events",
            content: <EventList events={events} loaded={loaded} player={player} onKey={onKey} />,
          },
          {
            name: "Event",
            content: <EventDetail runId={run.id} events={events} player={player} isImported={isImported} />,
          },
        ]}
      />
    </div>
  );
}

function Legend({ skipped, isImported }: { skipped: number; isImported: boolean }) {
  return (
    <ul className={styles.legend} aria-label="Lanes of the track, from top to bottom">
      <li data-lane="density">events</li>
      <li data-lane="reasoning">reasoning</li>
      <li data-lane="text">text</li>
      <li data-lane="tool">tools</li>
      <li data-lane="step">step</li>
      {skipped > 0 && (
        <li data-lane="gap">{skipped === 1 ? "1 pause shortened" : `${skipped} pauses shortened`}</li>
      )}
      {isImported && (
        <li className={styles.imported}>Imported run: replayed from its messages at an even pace</li>
      )}
    </ul>
  );
}

/** The message of the user that the run responds to: null if there is none, undefined while it is loading. */
function useQuestion(threadId: string, id: string | null | undefined): Message | null | undefined {
  const { data, isError } = useQuery({
    queryKey: ["question", threadId, id],
    enabled: typeof id === "string",
    queryFn: async ({ signal }) => (await findMessage(threadId, id ?? "", signal)) ?? null,
  });
  return id === null || isError ? null : data;
}
