/** Keeps the address and the position of the player in sync. */
import { useEffect, useRef } from "react";
import { go, toRun } from "../ui/routing";
import { upTo } from "./pacing";
import type { Player } from "./player";
import type { Progress, RunTimeline } from "./runTimeline";

/** Milliseconds between two changes of the address. Browsers limit their number. */
const PAUSED_INTERVAL = 200;
const PLAYING_INTERVAL = 1000;

export function useUrlPosition(
  runId: string,
  at: string | null,
  player: Player,
  timeline: RunTimeline,
  progress: Progress,
): void {
  const known = useRef<string | null>(null); // the last value that was read from or written to the address
  const { loaded, complete } = progress;
  useEffect(() => {
    const seq = Number(at);
    if (at === null || at === known.current || !Number.isInteger(seq) || seq < 0) return;
    const isLoaded = complete || (timeline.events[loaded - 1]?.seq ?? 0) >= seq;
    if (!isLoaded) return;
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
      const { position } = player.snapshot();
      const current = String(timeline.events[position - 1]?.seq ?? 0);
      if (current === known.current || (current === "0" && known.current === null)) return;
      known.current = current;
      go(toRun(runId, Number(current)), { replace: true });
    };
    const stop = player.subscribe(() => {
      timer ??= setTimeout(write, player.snapshot().playing ? PLAYING_INTERVAL : PAUSED_INTERVAL);
    });
    return () => {
      stop();
      if (timer) clearTimeout(timer);
    };
  }, [runId, player, timeline]);
}
