import { describe, expect, it } from "vitest";
import { movingAverage, OTHER, seriesOf, stacked, totals } from "../../src/analytics/charts/stack";
import { threadIdsOf, timeSeries } from "../../src/analytics/timeSeries";
import type { Stat } from "../../src/api/analytics";

describe("series", () => {
  const cells = [
    { column: "a", series: "small", value: 1 },
    { column: "b", series: "large", value: 5 },
    { column: "a", series: "large", value: 2 },
    { column: "a", series: "large", value: 1 },
    { column: "nowhere", series: "large", value: 100 },
    { column: "a", series: "none", value: 0 },
  ];

  it("have a value for every column, in the order of the names", () => {
    expect(seriesOf(cells, ["a", "b", "c"], ["large", "absent", "small"])).toEqual([
      { name: "large", values: [3, 5, 0], colour: 0 },
      { name: "small", values: [1, 0, 0], colour: 2 },
    ]);
  });

  it("are stacked", () => {
    const series = seriesOf(cells, ["a", "b"], ["large", "small"]);
    expect(stacked(series, 0)).toEqual([
      [0, 3],
      [3, 4],
    ]);
    expect(totals(series, 2)).toEqual([4, 5]);
  });

  it("without a colour of their own are combined", () => {
    const many = Array.from({ length: 9 }, (_, index) => ({ column: "a", series: `s${index}`, value: 1 }));
    const series = seriesOf(
      many,
      ["a"],
      many.map((one) => one.series),
    );
    expect(series.map(({ name }) => name)).toEqual(["s0", "s1", "s2", "s3", "s4", "s5", "s6", OTHER]);
    expect(totals(series, 1)).toEqual([9]);
  });

  it("have moving averages", () => {
    expect(movingAverage([3, 6, 9, 0], 3)).toEqual([Number.NaN, Number.NaN, 6, 5]);
    expect(movingAverage([], 3)).toEqual([]);
  });
});

const stat = (key: (string | null)[], cost: number, threadIds?: string[]): Stat =>
  ({ key, cost, threadIds }) as unknown as Stat;

describe("the threads of a cell", () => {
  const cost = (it: Stat) => it.cost ?? 0;

  it("are those of its row, or of all rows of its period", () => {
    const rows = [
      stat(["a", "large"], 2, ["t1", "t2"]),
      stat(["a", "small"], 1, ["t2", "t3"]),
      stat(["b", null], 1, []),
    ];
    const over = timeSeries(rows, ["a", "b"], "model", ["large", "small"], cost);
    expect(over.idsOf("a", "large")).toEqual(["t1", "t2"]);
    expect(over.idsOf("a")).toEqual(["t1", "t2", "t3"]);
    expect(over.series.map(({ name }) => name)).toEqual(["large", "small", OTHER]);
  });

  it("of the combined series are those of all its rows", () => {
    const rows = Array.from({ length: 8 }, (_, index) => stat(["a", `m${index}`], 10 - index, [`t${index}`]));
    const over = timeSeries(rows, ["a"], "model", ["m0", "m1"], cost);
    expect(over.idsOf("a", OTHER)).toEqual(["t2", "t3", "t4", "t5", "t6", "t7"]);
  });

  it("are not listed if there are too many", () => {
    expect(threadIdsOf([{ threadIds: ["a"] }, {}])).toBeUndefined();
    expect(
      threadIdsOf([{ threadIds: Array.from({ length: 101 }, (_, index) => `t${index}`) }]),
    ).toBeUndefined();
    expect(threadIdsOf([])).toEqual([]);
  });
});
