import { describe, expect, it } from "vitest";
import { intervals, labelEvery, linear, pathOf, ticks } from "../../src/analytics/charts/scale";

describe("ticks", () => {
  it.each([
    [0, false, [0, 1]],
    [Number.NaN, false, [0, 1]],
    [1, true, [0, 1]],
    [3, true, [0, 1, 2, 3]],
    [10, false, [0, 2.5, 5, 7.5, 10]],
    [10, true, [0, 3, 6, 9, 12]],
    [22.63, false, [0, 10, 20, 30]],
    [0.0031, false, [0, 0.001, 0.002, 0.003, 0.004]],
    [41_300_000, true, [0, 20_000_000, 40_000_000, 60_000_000]],
  ])("up to %d (whole: %s)", (greatest, whole, expected) => {
    expect(ticks(greatest, 4, whole)).toEqual(expected);
  });

  it("reach the maximum in even steps for any size", () => {
    for (let power = -6; power < 12; power += 0.37) {
      const greatest = 10 ** power;
      const found = ticks(greatest);
      expect(found[0]).toBe(0);
      expect(found.at(-1)).toBeGreaterThanOrEqual(greatest * (1 - 1e-9));
      expect(found.length).toBeLessThanOrEqual(6);
    }
  });
});

describe("positions", () => {
  it("are linear", () => {
    const y = linear([0, 10], [100, 0]);
    expect([y(0), y(5), y(10)]).toEqual([100, 50, 0]);
    expect(linear([3, 3], [7, 9])(3)).toBe(7);
  });

  it("leave room for labels", () => {
    expect(labelEvery(30, 600, 60)).toBe(3);
    expect(labelEvery(5, 600, 60)).toBe(1);
    expect(labelEvery(5, 0, 60)).toBe(300);
  });

  it("have gaps for missing values", () => {
    const gap = Number.NaN;
    expect(intervals([gap, 1, 2, gap, gap, 3])).toEqual([
      [1, 3],
      [5, 6],
    ]);
    const same = (value: number) => value;
    expect(pathOf([1, 2, gap, 4], same, same)).toBe("M0.0 1.0L1.0 2.0M3.0 4.0");
  });
});
