import { beforeEach, describe, expect, it } from "vitest";
import { Pacing } from "../../src/replay/pacing";
import { type Clock, Player } from "../../src/replay/player";

/** A clock that advances on request, one frame at a time. */
class ManualClock implements Clock {
  private time = 0;
  private waiting: (() => void) | null = null;

  readonly now = () => this.time;
  readonly frame = (callback: () => void) => {
    this.waiting = callback;
    return () => {
      this.waiting = null;
    };
  };

  advance(milliseconds: number): void {
    this.time += milliseconds;
    const callback = this.waiting;
    this.waiting = null;
    callback?.();
  }

  get idle(): boolean {
    return this.waiting === null;
  }
}

const TIMES = [0, 100, 100, 250, 10_250, 10_300];

describe("a player", () => {
  let clock: ManualClock;
  let player: Player;
  const load = (longest: number | null, more = false) => player.load(TIMES, new Pacing(TIMES, longest), more);
  beforeEach(() => {
    clock = new ManualClock();
    player = new Player(clock);
    load(null);
  });
  const current = () => [player.snapshot().time, player.snapshot().position];

  it("keeps the time between events", () => {
    player.play();
    clock.advance(99);
    expect(current()).toEqual([99, 1]);
    clock.advance(1);
    expect(current()).toEqual([100, 3]);
    clock.advance(5000);
    expect(current()).toEqual([5100, 4]);
    clock.advance(5150);
    expect(current()).toEqual([10_250, 5]);
  });

  it.each([
    [0.25, 25],
    [2, 200],
    [32, 3200],
  ])("at %i× reaches %i ms in a tenth of a second", (speed, time) => {
    player.setSpeed(speed);
    player.play();
    clock.advance(100);
    expect(player.snapshot().time).toBe(time);
  });

  it("skips silence", () => {
    load(1000);
    player.play();
    clock.advance(250);
    clock.advance(500);
    expect(current()).toEqual([5250, 4]);
    clock.advance(500);
    expect(current()).toEqual([10_250, 5]);
  });

  it("stops at the end, and restarts from the beginning", () => {
    player.play();
    clock.advance(60_000);
    expect(current()).toEqual([10_300, 6]);
    expect(player.snapshot().playing).toBe(false);
    expect(clock.idle).toBe(true);
    player.play();
    expect(current()).toEqual([0, 0]);
  });

  it("waits at the end of an active run, and continues with new events", () => {
    load(null, true);
    player.play();
    clock.advance(60_000);
    expect(player.snapshot().playing).toBe(true);
    const times = [...TIMES, 10_400];
    player.load(times, new Pacing(times, null), true);
    clock.advance(50);
    expect(current()).toEqual([10_350, 6]);
    clock.advance(50);
    expect(current()).toEqual([10_400, 7]);
  });

  it("does not advance while it is paused", () => {
    player.play();
    clock.advance(50);
    player.pause();
    clock.advance(5000);
    expect(player.snapshot().time).toBe(50);
    player.play();
    clock.advance(10);
    expect(player.snapshot().time).toBe(60);
  });

  it("can stop between simultaneous events, and continues from there", () => {
    player.goTo(2);
    expect(current()).toEqual([100, 2]);
    player.play();
    clock.advance(1);
    expect(current()).toEqual([101, 3]);
  });

  it("stays inside the run", () => {
    player.goTo(99);
    expect(current()).toEqual([10_300, 6]);
    player.goTo(-3);
    expect(current()).toEqual([0, 0]);
    player.seek(1e9);
    expect(current()).toEqual([10_300, 6]);
    player.seek(120);
    expect(current()).toEqual([120, 3]);
  });

  it("changes the speed between its minimum and maximum", () => {
    for (let times = 0; times < 12; times += 1) player.changeSpeed(1);
    expect(player.snapshot().speed).toBe(32);
    for (let times = 0; times < 12; times += 1) player.changeSpeed(-1);
    expect(player.snapshot().speed).toBe(0.25);
  });
});
