import { type KeyboardEvent, useSyncExternalStore } from "react";
import { count } from "../ui/format";
import type { Pacing } from "./pacing";
import type { Player } from "./player";
import styles from "./Scrubber.module.css";
import type { Segment } from "./segments";
import { Track } from "./Track";
import { stopwatch } from "./told";

interface Props {
  readonly player: Player;
  readonly pacing: Pacing;
  readonly times: readonly number[];
  readonly loaded: number;
  readonly total: number;
  readonly segments: readonly Segment[];
  readonly steps: readonly number[];
  /** Whether a key did something. */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

/** The run as a track, and a handle that is moved along it. */
export function Scrubber({ player, pacing, times, loaded, total, segments, steps, onKey }: Props) {
  const { time, place } = useSyncExternalStore(player.subscribe, player.snapshot);
  const end = times.at(-1) ?? 0;
  return (
    <div className={styles.scrubber}>
      <div className={styles.lanes}>
        <Track times={times} count={loaded} segments={segments} steps={steps} pacing={pacing} />
      </div>
      <input
        type="range"
        className={styles.handle}
        aria-label="Moment of the run"
        aria-valuetext={`${stopwatch(time)} of ${stopwatch(end)}, event ${count(place)} of ${count(total)}`}
        min={0}
        max={Math.max(pacing.duration, 1)}
        step="any"
        value={pacing.shown(time)}
        onChange={(event) => player.seek(pacing.real(event.target.valueAsNumber))}
        onKeyDown={(event) => {
          if (onKey(event)) event.preventDefault();
        }}
      />
    </div>
  );
}
