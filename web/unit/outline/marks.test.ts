import { describe, expect, it } from "vitest";
import {
  type Mark,
  type MarkKind,
  markAt,
  offsetAt,
  pathOf,
  placeMarks,
  windowOf,
} from "../../src/outline/marks";

const mark = (kind: MarkKind, messageId: string, part: string | null = null): Mark => ({
  kind,
  messageId,
  part,
});
const extentOf = (id: string) => ({ a: { start: 0, size: 100 }, b: { start: 500, size: 400 } })[id] ?? null;

describe("the marks of a minimap", () => {
  const marks = [
    mark("question", "a"),
    mark("edit", "b", "0"),
    mark("edit", "b", "1"),
    mark("error", "elsewhere"),
  ];
  const placed = placeMarks(marks, extentOf, 1000, 100);

  it("are where their messages are, spread over long ones", () => {
    expect(placed.map(({ mark: { kind, part }, y }) => [kind, part, y])).toEqual([
      ["question", null, 3],
      ["edit", "0", 50],
      ["edit", "1", 70],
    ]);
  });

  it("are one if they are at the same place, so that there are never more than pixels", () => {
    const many = Array.from({ length: 5000 }, () => mark("edit", "b"));
    expect(placeMarks(many, extentOf, 1000, 100).length).toBeLessThan(40);
  });

  it("are drawn by kind", () => {
    expect(pathOf(placed, "edit").match(/M/g)).toHaveLength(2);
    expect(pathOf(placed, "error")).toBe("");
  });

  it("are found by a click near them", () => {
    expect(markAt(placed, 11, 52)).toBe(marks[1]);
    expect(markAt(placed, 2, 1)).toBe(marks[0]);
    expect(markAt(placed, 9, 30)).toBeNull();
  });
});

describe("the visible window", () => {
  const area = { scrollTop: 4500, scrollHeight: 10_000, clientHeight: 1000 };

  it("is proportional, and large enough to be dragged", () => {
    expect(windowOf(area, 500)).toEqual({ top: 225, size: 50 });
    expect(windowOf({ ...area, scrollHeight: 1e6, scrollTop: 999_000 }, 500)).toEqual({ top: 476, size: 24 });
    expect(windowOf({ ...area, scrollHeight: 1000 }, 500)).toBeNull();
  });

  it("scrolls to where it is dragged", () => {
    expect(offsetAt(225, 50, area, 500)).toBe(4500);
  });
});
