import {
  ChevronFirst,
  ChevronLast,
  ChevronLeft,
  ChevronRight,
  ChevronsLeft,
  ChevronsRight,
  Pause,
  Play,
} from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button, IconButton } from "../ui/Button";
import { count } from "../ui/format";
import styles from "./Controls.module.css";
import { type Player, SPEEDS } from "./player";
import type { Walk } from "./steps";
import { stopwatch } from "./told";

export interface Silence {
  readonly skip: boolean;
  readonly seconds: number;
}

interface Props {
  readonly player: Player;
  readonly walk: (step: Walk) => void;
  readonly end: number;
  readonly total: number;
  readonly startedAt?: string;
  readonly silence: Silence;
  readonly onSilence: (silence: Silence) => void;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const LONGEST = [0.5, 1, 2, 5, 10];

const BACK = [
  ["start", "To the start (Home)", ChevronFirst],
  ["part-back", "Back one part (Shift+←)", ChevronsLeft],
  ["event-back", "Back one event (←)", ChevronLeft],
] as const;
const ON = [
  ["event-on", "On one event (→)", ChevronRight],
  ["part-on", "On one part (Shift+→)", ChevronsRight],
  ["end", "To the end (End)", ChevronLast],
] as const;

/** Play, step, and how fast. */
export function Controls({ player, walk, end, total, startedAt, silence, onSilence }: Props) {
  const { playing, speed, time, place } = useSyncExternalStore(player.subscribe, player.snapshot);
  const step = ([where, label, Icon]: (typeof BACK | typeof ON)[number]) => (
    <IconButton key={where} label={label} onClick={() => walk(where)}>
      <Icon size={17} />
    </IconButton>
  );
  return (
    <div className={styles.controls}>
      <div className={styles.buttons}>
        {BACK.map(step)}
        <Button
          kind="primary"
          className={styles.play}
          title={playing ? "Pause (space)" : "Play (space)"}
          icon={playing ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
          onClick={() => player.toggle()}
        >
          {playing ? "Pause" : "Play"}
        </Button>
        {ON.map(step)}
      </div>
      <p className={styles.where}>
        <strong>{stopwatch(time)}</strong>
        <span>of {stopwatch(end)}</span>
        <span>
          event {count(place)} of {count(total)}
        </span>
        {startedAt && (
          <time dateTime={new Date(Date.parse(startedAt) + time).toISOString()} title="What the clock showed">
            {CLOCK.format(Date.parse(startedAt) + time)}
          </time>
        )}
      </p>
      <div className={styles.pace}>
        <label>
          Speed
          <select value={speed} onChange={(event) => player.setSpeed(Number(event.target.value))}>
            {SPEEDS.map((one) => (
              <option key={one} value={one}>
                {one}×
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={silence.skip}
            onChange={(event) => onSilence({ ...silence, skip: event.target.checked })}
          />
          Skip silence
        </label>
        <label className={styles.above}>
          <span>above</span>
          <select
            aria-label="Longest silence, in seconds"
            disabled={!silence.skip}
            value={silence.seconds}
            onChange={(event) => onSilence({ ...silence, seconds: Number(event.target.value) })}
          >
            {LONGEST.map((one) => (
              <option key={one} value={one}>
                {one} s
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  );
}
