import { describe, expect, it } from "vitest";
import type { ThreadSummary } from "../../src/api/threads";
import { arranged, loaded, matching, merged, type Pages, shortProject } from "../../src/threads/rows";

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
    ["a changed one rises", ["a"], [row("a", 40)], "a c b"],
    ["a new one takes its place", ["d"], [row("d", 25)], "c d b a"],
    ["one that fits no more goes", ["b"], [], "c a"],
    ["one from a page that is not loaded stays there", ["z"], [row("z", 1)], "c b a"],
  ])("%s", (_, asked, found, expected) => {
    const now = merged(was, new Set(asked), found);
    expect(ids(loaded(now))).toBe(expected);
    expect(now.pages.at(-1)?.next).toBe("more");
  });

  it("take what is oldest once everything is loaded", () => {
    expect(ids(loaded(merged(pages(null, row("c", 30)), new Set(["z"]), [row("z", 1)])))).toBe("c z");
  });

  it("show the pinned first, each once, and none that is being deleted", () => {
    const pinned = [row("old", 1, { pinned: true })];
    const others = [
      row("c", 30),
      row("b", 20, { pinned: true }),
      row("old", 1, { pinned: true }),
      row("x", 0),
    ];
    expect(ids(arranged(pinned, others, new Set(["x"])))).toBe("b old c");
  });

  it("drop one from the pinned that is pinned no more", () => {
    expect(ids(arranged([row("a", 1, { pinned: false })], [row("a", 1, { pinned: false })], new Set()))).toBe(
      "a",
    );
  });

  it("are found by all words of a name, whatever their case", () => {
    const rows = [row("Lamp", 1), row("boat", 2)];
    expect(ids(matching(rows, "LAMP title"))).toBe("Lamp");
    expect(ids(matching(rows, "  "))).toBe("Lamp boat");
  });

  it.each([
    ["/home/ada/harbour", "harbour"],
    ["C:\\work\\lamps\\", "lamps"],
    ["plain", "plain"],
    ["/", "/"],
  ])("call the project %s %s", (project, short) => {
    expect(shortProject(project)).toBe(short);
  });
});
