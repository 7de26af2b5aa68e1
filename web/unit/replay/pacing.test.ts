import { describe, expect, it } from "vitest";
import { Pacing, upTo } from "../../src/replay/pacing";

describe("the time a run is shown in", () => {
  const times = [500, 1000, 11_000, 11_200, 71_200];

  it("is the time of the run when no silence is skipped", () => {
    const pacing = new Pacing(times, null);
    expect(pacing.gaps).toEqual([]);
    expect(pacing.duration).toBe(71_200);
    expect(pacing.shown(5000)).toBe(5000);
    expect(pacing.real(5000)).toBe(5000);
  });

  it("shortens what is longer than allowed, and nothing else", () => {
    const pacing = new Pacing(times, 2000);
    expect(pacing.gaps).toEqual([
      { from: 1000, to: 11_000, shown: 2000, at: 1000 },
      { from: 11_200, to: 71_200, shown: 2000, at: 3200 },
    ]);
    expect(pacing.duration).toBe(5200);
    expect(pacing.shown(11_000)).toBe(3000);
    expect(pacing.shown(6000)).toBe(2000); // half way through the first silence
    expect(pacing.real(2000)).toBe(6000);
  });

  it("shortens the wait for the first event, too", () => {
    expect(new Pacing([60_000], 1000).duration).toBe(1000);
  });

  it.each([null, 100, 2000, 1e6])("goes there and back, %s", (longest) => {
    const pacing = new Pacing(times, longest);
    let before = -1;
    for (let real = 0; real <= 71_200; real += 137) {
      const shown = pacing.shown(real);
      expect(shown).toBeGreaterThanOrEqual(before);
      before = shown;
      expect(pacing.real(shown)).toBeCloseTo(real, 3);
    }
    for (const time of times) expect(upTo(times, pacing.real(pacing.shown(time)))).toBe(upTo(times, time));
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
