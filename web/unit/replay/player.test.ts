import { beforeEach, describe, expect, it } from "vitest";
import { Pacing } from "../../src/replay/pacing";
import { type Clock, Player } from "../../src/replay/player";

/** A clock that goes on when it is told to, a frame at a time. */
class HandClock implements Clock {
  private time = 0;
  private waiting: (() => void) | null = null;

  readonly now = () => this.time;
  readonly frame = (callback: () => void) => {
    this.waiting = callback;
    return () => {
      this.waiting = null;
    };
  };

  pass(milliseconds: number): void {
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
  let clock: HandClock;
  let player: Player;
  const load = (longest: number | null, more = false) => player.load(TIMES, new Pacing(TIMES, longest), more);
  beforeEach(() => {
    clock = new HandClock();
    player = new Player(clock);
    load(null);
  });
  const where = () => [player.snapshot().time, player.snapshot().place];

  it("keeps the real gaps", () => {
    player.play();
    clock.pass(99);
    expect(where()).toEqual([99, 1]);
    clock.pass(1);
    expect(where()).toEqual([100, 3]);
    clock.pass(5000);
    expect(where()).toEqual([5100, 4]);
    clock.pass(5150);
    expect(where()).toEqual([10_250, 5]);
  });

  it.each([
    [0.25, 25],
    [2, 200],
    [32, 3200],
  ])("at %i× comes to %i ms in a tenth of a second", (speed, time) => {
    player.setSpeed(speed);
    player.play();
    clock.pass(100);
    expect(player.snapshot().time).toBe(time);
  });

  it("skips silence", () => {
    load(1000);
    player.play();
    clock.pass(250);
    clock.pass(500);
    expect(where()).toEqual([5250, 4]);
    clock.pass(500);
    expect(where()).toEqual([10_250, 5]);
  });

  it("stops at the end, and begins anew from there", () => {
    player.play();
    clock.pass(60_000);
    expect(where()).toEqual([10_300, 6]);
    expect(player.snapshot().playing).toBe(false);
    expect(clock.idle).toBe(true);
    player.play();
    expect(where()).toEqual([0, 0]);
  });

  it("waits at the end of a run that is at work, and goes on with what comes", () => {
    load(null, true);
    player.play();
    clock.pass(60_000);
    expect(player.snapshot().playing).toBe(true);
    const times = [...TIMES, 10_400];
    player.load(times, new Pacing(times, null), true);
    clock.pass(50);
    expect(where()).toEqual([10_350, 6]);
    clock.pass(50);
    expect(where()).toEqual([10_400, 7]);
  });

  it("stands still while paused", () => {
    player.play();
    clock.pass(50);
    player.pause();
    clock.pass(5000);
    expect(player.snapshot().time).toBe(50);
    player.play();
    clock.pass(10);
    expect(player.snapshot().time).toBe(60);
  });

  it("stands between events that came at once, and goes on from there", () => {
    player.goTo(2);
    expect(where()).toEqual([100, 2]);
    player.play();
    clock.pass(1);
    expect(where()).toEqual([101, 3]);
  });

  it("keeps inside the run", () => {
    player.goTo(99);
    expect(where()).toEqual([10_300, 6]);
    player.goTo(-3);
    expect(where()).toEqual([0, 0]);
    player.seek(1e9);
    expect(where()).toEqual([10_300, 6]);
    player.seek(120);
    expect(where()).toEqual([120, 3]);
  });

  it("goes through its speeds, and no further", () => {
    for (let times = 0; times < 12; times += 1) player.shift(1);
    expect(player.snapshot().speed).toBe(32);
    for (let times = 0; times < 12; times += 1) player.shift(-1);
    expect(player.snapshot().speed).toBe(0.25);
  });
});
