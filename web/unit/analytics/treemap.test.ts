import { describe, expect, it } from "vitest";
import { type Rect, splitSmall, squarify } from "../../src/analytics/charts/squarify";
import { layOut, type TreeGroup, type TreeItem } from "../../src/analytics/charts/treeLayout";

const WITHIN: Rect = { x: 0, y: 0, width: 600, height: 400 };
const area = ({ width, height }: Rect) => width * height;
const overlaps = (a: Rect, b: Rect) =>
  a.x < b.x + b.width - 0.01 &&
  b.x < a.x + a.width - 0.01 &&
  a.y < b.y + b.height - 0.01 &&
  b.y < a.y + a.height - 0.01;
const pairs = <T>(all: readonly T[]) =>
  all.flatMap((one, index) => all.slice(index + 1).map((two) => [one, two] as const));

describe("squarify", () => {
  it("gives the rectangles of the paper", () => {
    const rects = squarify([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 6, height: 4 });
    expect(
      rects
        .slice(0, 4)
        .map(({ x, y, width, height }) => [x, y, width, height].map((it) => Number(it.toFixed(2)))),
    ).toEqual([
      [0, 0, 3, 2],
      [0, 2, 3, 2],
      [3, 0, 1.71, 2.33],
      [4.71, 0, 1.29, 2.33],
    ]);
  });

  it.each([
    [[1]],
    [[5, 4, 3, 2, 1]],
    [[1000, 1, 1, 1]],
    [Array.from({ length: 60 }, (_, index) => 60 - index)],
  ])("fills the area in proportion, without overlaps: %j", (values) => {
    const rects = squarify(values, WITHIN);
    const total = values.reduce((sum, value) => sum + value, 0);
    rects.forEach((rect, index) => {
      expect(area(rect)).toBeCloseTo(((values[index] ?? 0) / total) * area(WITHIN), 3);
      expect(rect.x + rect.width).toBeLessThanOrEqual(600.001);
      expect(rect.y + rect.height).toBeLessThanOrEqual(400.001);
    });
    expect(pairs(rects).filter(([one, two]) => overlaps(one, two))).toEqual([]);
  });

  it("of nothing is nothing", () => {
    expect(squarify([], WITHIN)).toEqual([]);
  });

  it("leaves out what is too small, unless it is one item", () => {
    const items = [{ value: 1 }, { value: 90 }, { value: 2 }, { value: 0 }];
    expect(splitSmall(items, 100, 5)).toEqual([[{ value: 90 }], [{ value: 2 }, { value: 1 }]]);
    expect(splitSmall(items, 100, 1.5)).toEqual([[{ value: 90 }, { value: 2 }, { value: 1 }], []]);
  });
});

describe("a treemap", () => {
  const item = (key: string, value: number): TreeItem => ({
    key,
    name: key,
    value,
    href: `#${key}`,
    action: "Open",
  });
  const group = (key: string, ...values: number[]): TreeGroup => ({
    ...item(
      key,
      values.reduce((sum, value) => sum + value, 0),
    ),
    colour: 0,
    items: values.map((value, index) => item(`${key}${index}`, value)),
  });
  const others = (items: readonly TreeItem[]) =>
    item(
      `${items.length} others`,
      items.reduce((sum, one) => sum + one.value, 0),
    );

  it("has the items of a group below its head, and combines small ones", () => {
    const placed = layOut(
      [group("a", 60, 20, 0.1, 0.1), group("b", 15), group("c", 0.01), group("d", 0.02)],
      WITHIN,
      others,
      7,
    );
    expect(placed.map((one) => one.item.key)).toEqual(["a", "a0", "a1", "2 others", "b", "b0", "2 others"]);
    const inner = placed.filter((one) => !one.isGroup).map((one) => one.rect);
    expect(pairs(inner).filter(([one, two]) => overlaps(one, two))).toEqual([]);
    expect(placed.at(-1)?.colour).toBe(7);
  });
});
