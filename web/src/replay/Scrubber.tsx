import { type KeyboardEvent, useSyncExternalStore } from "react";
import { count } from "../ui/format";
import { stopwatch } from "./eventText";
import type { Pacing } from "./pacing";
import type { Player } from "./player";
import styles from "./Scrubber.module.css";
import type { Segment } from "./segments";
import { Track } from "./Track";

interface Props {
  readonly player: Player;
  readonly pacing: Pacing;
  readonly times: readonly number[];
  readonly loaded: number;
  readonly total: number;
  readonly segments: readonly Segment[];
  readonly steps: readonly number[];
  /** Returns whether the key was handled. */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

/** The track of the run and a slider for the position. */
export function Scrubber({ player, pacing, times, loaded, total, segments, steps, onKey }: Props) {
  const { time, position } = useSyncExternalStore(player.subscribe, player.snapshot);
  const end = times.at(-1) ?? 0;
  return (
    <div className={styles.scrubber}>
      <div className={styles.lanes}>
        <Track times={times} count={loaded} segments={segments} steps={steps} pacing={pacing} />
      </div>
      <input
        type="range"
        className={styles.handle}
        aria-label="Position in the run"
        aria-valuetext={`${stopwatch(time)} of ${stopwatch(end)}, event ${count(position)} of ${count(total)}`}
        min={0}
        max={Math.max(pacing.duration, 1)}
        step="any"
        value={pacing.toPlayback(time)}
        onChange={(event) => player.seek(pacing.toRunTime(event.target.valueAsNumber))}
        onKeyDown={(event) => {
          if (onKey(event)) event.preventDefault();
        }}
      />
    </div>
  );
}
