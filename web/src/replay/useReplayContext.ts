/** The render context of a replay. */
import { useMemo, useRef } from "react";
import type { RenderContext, Timing } from "../context/renderContext";
import { useServerContext } from "../context/useServerContext";
import type { Run } from "../partita.gen";
import { Messages } from "../parts/Messages";
import type { TimeSpan } from "./partTimes";
import type { RunHistory } from "./runHistory";
import type { Progress } from "./runTimeline";

export function useReplayContext(run: Run, progress: Progress, position: number): RenderContext {
  const { history, isImported, loaded, startedAt } = progress;
  const server = useServerContext(run.threadId);
  const live = position < loaded;
  const now = useRef(position);
  now.current = position;
  return useMemo(
    () => ({
      ...server,
      Messages,
      live,
      // The timing changes only when a part ends. Then the part is a new object and renders again.
      timing: (part) => (isImported ? undefined : timingAt(history, now.current, part, startedAt)),
    }),
    [server, live, history, isImported, startedAt],
  );
}

/** The timing of a part; undefined if it has not ended. */
function timingAt(
  history: RunHistory | undefined,
  position: number,
  part: { readonly messageId: string; readonly path: string },
  startedAt: string | undefined,
): Timing | undefined {
  const span = history?.times.at(position, part.messageId, part.path);
  return span && timingOf(span, Date.parse(startedAt ?? ""));
}

function timingOf({ start, end }: TimeSpan, runStart: number): Timing {
  const base = Number.isNaN(runStart) ? 0 : runStart;
  const iso = (time: number) => new Date(base + time).toISOString();
  return { startedAt: iso(start), endedAt: iso(end) };
}
