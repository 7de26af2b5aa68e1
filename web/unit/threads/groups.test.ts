import { describe, expect, it } from "vitest";
import type { ThreadSummary } from "../../src/api/threads";
import { entriesOf, groupingAt, shortTime } from "../../src/threads/groups";
import { comparator, type Sort } from "../../src/threads/sorts";

/** Wednesday, 18 November 2026, 15:00, in the time zone of the browser. */
const NOW = new Date(2026, 10, 18, 15).getTime();
const at = (...time: [number, number, number, number?, number?]) => {
  const [year, month, day, hour = 12, minute = 0] = time;
  return new Date(year, month - 1, day, hour, minute).toISOString();
};
const row = (id: string, updatedAt: string, more: Partial<ThreadSummary> = {}): ThreadSummary => ({
  thread: { id, updatedAt, messageCount: 1 },
  ...more,
});
const SIZES = { heading: 30, row: ({ tags }: ThreadSummary) => (tags ? 70 : 50) };

describe("the group of a session", () => {
  it.each([
    [at(2026, 11, 18, 0, 1), "Today"],
    [at(2026, 11, 19), "Today"],
    [at(2026, 11, 17, 23, 59), "Yesterday"],
    [at(2026, 11, 16), "This week"],
    [at(2026, 11, 15, 23, 59), "Last week"],
    [at(2026, 11, 9, 0, 0), "Last week"],
    [at(2026, 11, 8), "November 2026"],
    [at(2025, 3, 1), "March 2025"],
    [null, "Unknown date"],
  ])("of %s is %s", (time, group) => {
    expect(groupingAt(NOW)(time)).toBe(group);
  });

  it("is Yesterday on a Monday, although it is of the last week", () => {
    expect(groupingAt(new Date(2026, 10, 16, 9).getTime())(at(2026, 11, 15))).toBe("Yesterday");
  });
});

describe("the entries of the list", () => {
  const rows = [
    row("p", at(2025, 1, 1), { pinned: true }),
    row("a", at(2026, 11, 18)),
    row("b", at(2026, 11, 18), { tags: ["x"] }),
    row("c", at(2026, 7, 1)),
  ];

  it("have headings before each group, and places that follow each other", () => {
    const entries = entriesOf(rows, undefined, NOW, SIZES);
    expect(entries.map((one) => [one.kind === "heading" ? one.label : one.key, one.start])).toEqual([
      ["Pinned", 0],
      ["p", 30],
      ["Today", 80],
      ["a", 110],
      ["b", 160],
      ["July 2026", 230],
      ["c", 260],
    ]);
    expect(entries.flatMap((one) => (one.kind === "row" ? one.position : []))).toEqual([0, 1, 2, 3]);
  });

  it("have no headings in another order than that of time", () => {
    const kinds = entriesOf(rows, "cost", NOW, SIZES).map((one) => one.kind);
    expect(kinds).toEqual(["row", "row", "row", "row"]);
  });
});

it.each<[Sort, string]>([
  ["newest", "c b a"],
  ["oldest", "a b c"],
  ["longest", "b c a"],
  ["cost", "a c b"],
  ["messages", "c b a"],
])("rows sorted by %s are in the order of the server", (sort, expected) => {
  const rows = [
    row("a", at(2026, 1, 1), { seconds: 1, cost: 3 }),
    row("b", at(2026, 1, 2), { seconds: 9, cost: null }),
    row("c", at(2026, 1, 3), { seconds: 2, cost: 1 }),
  ];
  expect(
    rows
      .sort(comparator(sort))
      .map(({ thread }) => thread.id)
      .join(" "),
  ).toBe(expected);
});

it.each([
  [at(2026, 11, 18, 9, 5), "09:05"],
  [at(2026, 11, 17, 9, 5), "Tue 09:05"],
  [at(2026, 11, 16, 9, 5), "Mon"],
  [at(2026, 11, 11, 9, 5), "11 Nov"],
  [at(2025, 11, 11, 9, 5), "11 Nov 2025"],
])("the time %s is written as %s", (time, text) => {
  expect(shortTime(time, NOW)).toBe(text);
});
