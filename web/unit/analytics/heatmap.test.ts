import { describe, expect, it } from "vitest";
import { monthLabels, weeksUntil } from "../../src/analytics/charts/Heatmap";
import { levelOf, levelsOf } from "../../src/analytics/charts/levels";

describe("a heatmap", () => {
  it("has weeks from Monday until the week of the last day", () => {
    const weeks = weeksUntil("2026-03-04", 2);
    expect(weeks.map((days) => [days[0], days[6]])).toEqual([
      ["2026-02-23", "2026-03-01"],
      ["2026-03-02", "2026-03-08"],
    ]);
  });

  it("names a month at the week of its first day", () => {
    expect(monthLabels(weeksUntil("2026-03-04", 3))).toEqual(["", "Mar", ""]);
  });

  it("has levels with about as many different values", () => {
    const values = [0, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 800];
    const limits = levelsOf(values);
    expect([0, 1, 2, 3, 4, 5, 6, 7, 800].map((value) => levelOf(limits, value))).toEqual([
      0, 1, 1, 2, 2, 3, 3, 4, 4,
    ]);
    expect(levelOf(levelsOf([5]), 5)).toBe(1);
    expect(levelOf(levelsOf([]), 0)).toBe(0);
  });
});
