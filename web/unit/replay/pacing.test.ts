import { describe, expect, it } from "vitest";
import { Pacing, upTo } from "../../src/replay/pacing";

describe("the playback time", () => {
  const times = [500, 1000, 11_000, 11_200, 71_200];

  it("equals the time of the run if no silence is skipped", () => {
    const pacing = new Pacing(times, null);
    expect(pacing.gaps).toEqual([]);
    expect(pacing.duration).toBe(71_200);
    expect(pacing.toPlayback(5000)).toBe(5000);
    expect(pacing.toRunTime(5000)).toBe(5000);
  });

  it("shortens only silences over the limit", () => {
    const pacing = new Pacing(times, 2000);
    expect(pacing.gaps).toEqual([
      { from: 1000, to: 11_000, shortened: 2000, start: 1000 },
      { from: 11_200, to: 71_200, shortened: 2000, start: 3200 },
    ]);
    expect(pacing.duration).toBe(5200);
    expect(pacing.toPlayback(11_000)).toBe(3000);
    expect(pacing.toPlayback(6000)).toBe(2000); // half way through the first silence
    expect(pacing.toRunTime(2000)).toBe(6000);
  });

  it("shortens the silence before the first event", () => {
    expect(new Pacing([60_000], 1000).duration).toBe(1000);
  });

  it.each([null, 100, 2000, 1e6])("converts to run time and back with the limit %s", (longest) => {
    const pacing = new Pacing(times, longest);
    let before = -1;
    for (let time = 0; time <= 71_200; time += 137) {
      const playback = pacing.toPlayback(time);
      expect(playback).toBeGreaterThanOrEqual(before);
      before = playback;
      expect(pacing.toRunTime(playback)).toBeCloseTo(time, 3);
    }
    for (const time of times)
      expect(upTo(times, pacing.toRunTime(pacing.toPlayback(time)))).toBe(upTo(times, time));
  });

  it.each([
    [[], 5, 0],
    [[1, 2, 2, 3], 0, 0],
    [[1, 2, 2, 3], 2, 3],
    [[1, 2, 2, 3], 9, 4],
  ] as const)("counts %j up to %i", (sorted, value, count) => {
    expect(upTo(sorted, value)).toBe(count);
  });
});
