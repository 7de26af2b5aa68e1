import { describe, expect, it } from "vitest";
import type { ThreadSummary } from "../../src/api/threads";
import {
  allRows,
  mergeRows,
  type Pages,
  repositoryOf,
  shortDuration,
  shortMoney,
  shortProject,
  visibleRows,
} from "../../src/threads/rows";

const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, "0")}:00Z`;
const row = (id: string, minute: number, more: Partial<ThreadSummary> = {}): ThreadSummary => ({
  thread: { id, title: `Title of ${id}`, updatedAt: at(minute) },
  ...more,
});
const pages = (next: string | null, ...items: ThreadSummary[]): Pages => ({
  pages: [{ items, next }],
  pageParams: [null],
});
const ids = (rows: readonly ThreadSummary[]) => rows.map((one) => one.thread.id).join(" ");

describe("rows", () => {
  const was = pages("more", row("c", 30), row("b", 20), row("a", 10));

  it.each<[string, string[], ThreadSummary[], string]>([
    ["move up when they change", ["a"], [row("a", 40)], "a c b"],
    ["are inserted in order", ["d"], [row("d", 25)], "c d b a"],
    ["are removed if they no longer match", ["b"], [], "c a"],
    ["are not added before their page is loaded", ["z"], [row("z", 1)], "c b a"],
  ])("%s", (_, requested, returned, expected) => {
    const now = mergeRows(was, new Set(requested), returned);
    expect(ids(allRows(now))).toBe(expected);
    expect(now.pages.at(-1)?.next).toBe("more");
  });

  it("are added at the end if all pages are loaded", () => {
    expect(ids(allRows(mergeRows(pages(null, row("c", 30)), new Set(["z"]), [row("z", 1)])))).toBe("c z");
  });

  it("show pinned threads first, each thread once, and no deleted threads", () => {
    const pinned = [row("old", 1, { pinned: true })];
    const others = [
      row("c", 30),
      row("b", 20, { pinned: true }),
      row("old", 1, { pinned: true }),
      row("x", 0),
    ];
    expect(ids(visibleRows(pinned, others, new Set(["x"])))).toBe("b old c");
  });

  it("show unpinned threads at their normal position", () => {
    expect(
      ids(visibleRows([row("a", 1, { pinned: false })], [row("a", 1, { pinned: false })], new Set())),
    ).toBe("a");
  });

  it.each([
    ["/home/ada/harbour", "harbour"],
    ["C:\\work\\lamps\\", "lamps"],
    ["plain", "plain"],
    ["/", "/"],
  ])("shorten the project %s to %s", (project, short) => {
    expect(shortProject(project)).toBe(short);
  });

  it("name the repository, its folder and its branch", () => {
    const thread = { id: "a", project: "/srv/lamps-2", metadata: { gitBranch: "red" } };
    expect(repositoryOf({ thread, repository: "/srv/lamps" })).toEqual({
      name: "lamps",
      about: "/srv/lamps\nFolder: /srv/lamps-2\nBranch: red",
    });
    expect(repositoryOf({ thread: { id: "a" } })).toBeNull();
  });

  it("are sorted by time only in the order of time", () => {
    const rows = [row("a", 1), row("b", 2, { pinned: true })];
    expect(ids(visibleRows([], rows, new Set(), "cost"))).toBe("a b");
    expect(ids(visibleRows([], rows, new Set(), "oldest"))).toBe("b a");
  });

  it.each([
    [0.4, "1 s"],
    [59, "59 s"],
    [90, "2 min"],
    [5400, "1.5 h"],
    [40_000, "11 h"],
    [400_000, "4.6 d"],
  ])("write %d seconds as %s", (seconds, text) => {
    expect(shortDuration(seconds)).toBe(text);
  });

  it.each([
    [0.001, "<$0.01"],
    [0.019, "$0.02"],
    [4.394, "$4.39"],
    [9.995, "$10"],
    [44.39, "$44"],
    [1234.5, "$1,235"],
  ])("write %d dollars as %s", (value, text) => {
    expect(shortMoney(value)).toBe(text);
  });
});
