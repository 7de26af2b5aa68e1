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
import { stopwatch } from "./eventText";
import type { Step } from "./navigation";
import { type Player, SPEEDS } from "./player";

export interface Silence {
  readonly skip: boolean;
  readonly seconds: number;
}

interface Props {
  readonly player: Player;
  readonly onStep: (step: Step) => void;
  readonly end: number;
  readonly total: number;
  readonly startedAt?: string;
  readonly silence: Silence;
  readonly onSilence: (silence: Silence) => void;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const SILENCE_SECONDS = [0.5, 1, 2, 5, 10];

const BACK = [
  ["start", "Go to start (Home)", ChevronFirst],
  ["part-back", "Back one part (Shift+←)", ChevronsLeft],
  ["event-back", "Back one event (←)", ChevronLeft],
] as const;
const FORWARD = [
  ["event-forward", "Forward one event (→)", ChevronRight],
  ["part-forward", "Forward one part (Shift+→)", ChevronsRight],
  ["end", "Go to end (End)", ChevronLast],
] as const;

/** The buttons to play and step, and the speed. */
export function Controls({ player, onStep, end, total, startedAt, silence, onSilence }: Props) {
  const { playing, speed, time, position } = useSyncExternalStore(player.subscribe, player.snapshot);
  const stepButton = ([step, label, Icon]: (typeof BACK | typeof FORWARD)[number]) => (
    <IconButton key={step} label={label} onClick={() => onStep(step)}>
      <Icon size={17} />
    </IconButton>
  );
  return (
    <div className={styles.controls}>
      <div className={styles.buttons}>
        {BACK.map(stepButton)}
        <Button
          kind="primary"
          className={styles.play}
          title={playing ? "Pause (space)" : "Play (space)"}
          icon={playing ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
          onClick={() => player.toggle()}
        >
          {playing ? "Pause" : "Play"}
        </Button>
        {FORWARD.map(stepButton)}
      </div>
      <p className={styles.where}>
        <strong>{stopwatch(time)}</strong>
        <span>of {stopwatch(end)}</span>
        <span>
          event {count(position)} of {count(total)}
        </span>
        {startedAt && (
          <time dateTime={new Date(Date.parse(startedAt) + time).toISOString()} title="Time of day">
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
          Shorten pauses
        </label>
        <label className={styles.above}>
          <span>over</span>
          <select
            aria-label="Longest pause in seconds"
            disabled={!silence.skip}
            value={silence.seconds}
            onChange={(event) => onSilence({ ...silence, seconds: Number(event.target.value) })}
          >
            {SILENCE_SECONDS.map((one) => (
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
