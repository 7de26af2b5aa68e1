/** What the drawing of messages is given at a moment of a replay. */
import { useMemo, useRef } from "react";
import { useServed } from "../drawing/useServed";
import type { Run } from "../partita.gen";
import type { Timing, Viewing } from "../viewing/viewing";
import type { Frames } from "./fold";
import type { Lasted } from "./partTimes";
import type { Progress } from "./runTimeline";

export function useMomentViewing(run: Run, progress: Progress, place: number): Viewing {
  const { frames, retold, loaded, startedAt } = progress;
  const served = useServed(run.threadId);
  const live = place < loaded;
  const now = useRef(place);
  now.current = place;
  return useMemo(
    () => ({
      ...served,
      live,
      // A part that is over now was not a moment ago: then it is another part, and drawn anew.
      timing: (part) => (retold ? undefined : timed(frames, now.current, part, startedAt)),
    }),
    [served, live, frames, retold, startedAt],
  );
}

/** Of a run that is told once more nobody knows how long anything took, and of what is not over nobody can. */
function timed(
  frames: Frames | undefined,
  place: number,
  part: { readonly messageId: string; readonly path: string },
  startedAt: string | undefined,
): Timing | undefined {
  const lasted = frames?.times.at(place, part.messageId, part.path);
  return lasted && timingOf(lasted, Date.parse(startedAt ?? ""));
}

function timingOf({ start, end }: Lasted, began: number): Timing {
  const from = Number.isNaN(began) ? 0 : began;
  const told = (time: number) => new Date(from + time).toISOString();
  return { startedAt: told(start), endedAt: told(end) };
}
