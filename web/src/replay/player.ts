/** The playback of a run: position, time and speed. It knows only the times of events; the clock is passed in. */
import { Pacing, upTo } from "./pacing";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32] as const;

export interface Clock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Schedules a callback for the next frame. Returns a function that cancels it. */
  readonly frame: (callback: () => void) => () => void;
}

interface PlayerState {
  readonly playing: boolean;
  readonly speed: number;
  /** Milliseconds since the start of the run. */
  readonly time: number;
  /** The number of events up to the current time. */
  readonly position: number;
}

export class Player {
  private state: PlayerState = { playing: false, speed: 1, time: 0, position: 0 };
  private times: readonly number[] = [];
  private pacing = new Pacing([], null);
  private hasMore = false;
  private last = 0;
  private cancelFrame: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  readonly snapshot = (): PlayerState => this.state;

  /** Sets the times of the events, and whether more events will follow. */
  load(times: readonly number[], pacing: Pacing, hasMore: boolean): void {
    this.times = times;
    this.pacing = pacing;
    this.hasMore = hasMore;
  }

  play(): void {
    if (this.state.playing) return;
    if (this.isAtEnd() && !this.hasMore) this.change({ time: 0, position: 0 });
    this.last = this.clock.now();
    this.change({ playing: true });
    this.cancelFrame = this.clock.frame(this.tick);
  }

  pause(): void {
    this.cancelFrame?.();
    this.cancelFrame = null;
    if (this.state.playing) this.change({ playing: false });
  }

  toggle(): void {
    if (this.state.playing) this.pause();
    else this.play();
  }

  setSpeed(speed: number): void {
    this.change({ speed });
  }

  /** Selects the next faster (1) or slower (-1) speed. */
  changeSpeed(direction: 1 | -1): void {
    const position = SPEEDS.findIndex((speed) => speed >= this.state.speed);
    const speed = SPEEDS[Math.min(Math.max(position + direction, 0), SPEEDS.length - 1)];
    if (speed) this.setSpeed(speed);
  }

  /** Goes to the position after that many events. */
  goTo(position: number): void {
    const inside = Math.min(Math.max(position, 0), this.times.length);
    this.change({ position: inside, time: inside === 0 ? 0 : (this.times[inside - 1] ?? 0) });
  }

  /** Goes to a time, after all events up to it. */
  seek(time: number): void {
    const inside = Math.min(Math.max(time, 0), this.times.at(-1) ?? 0);
    this.change({ time: inside, position: inside === 0 ? 0 : upTo(this.times, inside) });
  }

  private readonly tick = (): void => {
    const now = this.clock.now();
    const { time, speed, position } = this.state;
    const playback = this.pacing.toPlayback(time) + (now - this.last) * speed;
    this.last = now;
    const end = this.times.at(-1) ?? 0;
    const next = Math.min(this.pacing.toRunTime(playback), end);
    this.change({ time: next, position: Math.max(position, upTo(this.times, next)) });
    if (this.isAtEnd() && !this.hasMore) this.pause();
    else this.cancelFrame = this.clock.frame(this.tick);
  };

  private isAtEnd(): boolean {
    return this.state.position >= this.times.length;
  }

  private change(changes: Partial<PlayerState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }
}

/** The clock of the page. */
export const PAGE_CLOCK: Clock = {
  now: () => performance.now(),
  frame: (callback) => {
    const id = requestAnimationFrame(callback);
    return () => cancelAnimationFrame(id);
  },
};
