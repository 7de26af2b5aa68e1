/** Plays a run: where it is, how fast it goes on. It knows times alone, and reads the clock it is given. */
import { Pacing, upTo } from "./pacing";

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32] as const;

export interface Clock {
  /** Milliseconds. */
  readonly now: () => number;
  /** Calls back at the next frame; gives how to call it off. */
  readonly frame: (callback: () => void) => () => void;
}

export interface Standing {
  readonly playing: boolean;
  readonly speed: number;
  /** Milliseconds since the run began. */
  readonly time: number;
  /** How many events have come. */
  readonly place: number;
}

export class Player {
  private standing: Standing = { playing: false, speed: 1, time: 0, place: 0 };
  private times: readonly number[] = [];
  private pacing = new Pacing([], null);
  private more = false;
  private last = 0;
  private callOff: (() => void) | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  readonly snapshot = (): Standing => this.standing;

  /** The events there are, how their silences are shown, and whether more are to come. */
  load(times: readonly number[], pacing: Pacing, more: boolean): void {
    this.times = times;
    this.pacing = pacing;
    this.more = more;
  }

  play(): void {
    if (this.standing.playing) return;
    if (this.isAtEnd() && !this.more) this.change({ time: 0, place: 0 });
    this.last = this.clock.now();
    this.change({ playing: true });
    this.callOff = this.clock.frame(this.tick);
  }

  pause(): void {
    this.callOff?.();
    this.callOff = null;
    if (this.standing.playing) this.change({ playing: false });
  }

  toggle(): void {
    if (this.standing.playing) this.pause();
    else this.play();
  }

  setSpeed(speed: number): void {
    this.change({ speed });
  }

  /** The next faster (1) or slower (-1) speed. */
  shift(direction: 1 | -1): void {
    const place = SPEEDS.findIndex((speed) => speed >= this.standing.speed);
    const speed = SPEEDS[Math.min(Math.max(place + direction, 0), SPEEDS.length - 1)];
    if (speed) this.setSpeed(speed);
  }

  /** Stand behind so many events. */
  goTo(place: number): void {
    const inside = Math.min(Math.max(place, 0), this.times.length);
    this.change({ place: inside, time: inside === 0 ? 0 : (this.times[inside - 1] ?? 0) });
  }

  /** Stand at a moment, behind all that had come then. */
  seek(time: number): void {
    const inside = Math.min(Math.max(time, 0), this.times.at(-1) ?? 0);
    this.change({ time: inside, place: inside === 0 ? 0 : upTo(this.times, inside) });
  }

  private readonly tick = (): void => {
    const now = this.clock.now();
    const { time, speed, place } = this.standing;
    const shown = this.pacing.shown(time) + (now - this.last) * speed;
    this.last = now;
    const end = this.times.at(-1) ?? 0;
    const next = Math.min(this.pacing.real(shown), end);
    this.change({ time: next, place: Math.max(place, upTo(this.times, next)) });
    if (this.isAtEnd() && !this.more) this.pause();
    else this.callOff = this.clock.frame(this.tick);
  };

  private isAtEnd(): boolean {
    return this.standing.place >= this.times.length;
  }

  private change(some: Partial<Standing>): void {
    this.standing = { ...this.standing, ...some };
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
