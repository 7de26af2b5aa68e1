/** The address says which moment is shown, and who comes with an address sees its moment. */
import { useEffect, useRef } from "react";
import { go, toRun } from "../ui/routing";
import { upTo } from "./pacing";
import type { Player } from "./player";
import type { Progress, RunTimeline } from "./runTimeline";

const PAUSED = 200;
const PLAYING = 1000; // a browser lets a page write its address only so often

export function useLinkedMoment(
  runId: string,
  at: string | null,
  player: Player,
  timeline: RunTimeline,
  progress: Progress,
): void {
  const known = useRef<string | null>(null); // the moment that the address and the player agree on
  const { loaded, complete } = progress;
  useEffect(() => {
    const seq = Number(at);
    if (at === null || at === known.current || !Number.isInteger(seq) || seq < 0) return;
    const isHere = complete || (timeline.events[loaded - 1]?.seq ?? 0) >= seq;
    if (!isHere) return;
    known.current = at;
    player.pause();
    player.goTo(
      upTo(
        timeline.events.map((event) => event.seq),
        seq,
      ),
    );
  }, [at, player, timeline, loaded, complete]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const write = () => {
      timer = null;
      const { place } = player.snapshot();
      const said = String(timeline.events[place - 1]?.seq ?? 0);
      if (said === known.current || (said === "0" && known.current === null)) return;
      known.current = said;
      go(toRun(runId, Number(said)), { replace: true });
    };
    const stop = player.subscribe(() => {
      timer ??= setTimeout(write, player.snapshot().playing ? PLAYING : PAUSED);
    });
    return () => {
      stop();
      if (timer) clearTimeout(timer);
    };
  }, [runId, player, timeline]);
}
