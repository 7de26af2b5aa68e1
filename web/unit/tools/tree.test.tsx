// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { JsonTree } from "../../src/tools/JsonTree";
import { PAGE, treeRows } from "../../src/tools/tree";

afterEach(cleanup);
const CLOSED = { holders: new Map(), pages: new Map() };

function deep(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
}

describe("a value as rows", () => {
  it("opens as many levels as are asked for", () => {
    expect(treeRows(deep(9), 2, CLOSED)).toHaveLength(3);
  });

  it("takes 5,000 levels, all of them open", () => {
    const value = deep(5000);
    const holders = new Map<object, boolean>();
    for (let at = value; typeof at === "object" && at; at = (at as { in: unknown }).in) holders.set(at, true);
    expect(treeRows(value, 0, { ...CLOSED, holders })).toHaveLength(5001);
  });

  it("shows long arrays by pages", () => {
    const value = Array.from({ length: 250 }, (_, at) => at);
    const rows = treeRows(value, 1, CLOSED);
    expect(rows).toHaveLength(1 + PAGE + 1);
    expect(rows.at(-1)).toMatchObject({ kind: "more", count: 150 });
    expect(treeRows(value, 1, { ...CLOSED, pages: new Map([[value, 3]]) })).toHaveLength(251);
  });

  it("has names that look like those of every object as plain ones", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3}');
    expect(treeRows(value, 1, CLOSED).map((row) => row.name)).toEqual([
      null,
      "__proto__",
      "constructor",
      "toString",
    ]);
  });
});

describe("a tree", () => {
  const rows = () => screen.getAllByRole("treeitem").map((row) => row.textContent);

  it("is walked and opened by keys", () => {
    render(<JsonTree value={{ a: { b: 1 }, c: 2 }} open={1} />);
    expect(rows()).toHaveLength(3);
    const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
    screen.getAllByRole("treeitem")[0]?.focus();
    press("ArrowDown");
    press("ArrowRight");
    expect(rows()).toHaveLength(4);
    press("ArrowLeft");
    expect(rows()).toHaveLength(3);
    press("ArrowLeft");
    expect(document.activeElement?.getAttribute("aria-level")).toBe("1");
  });

  it("copies a node", async () => {
    const write = vi.fn(async () => {});
    vi.stubGlobal("navigator", { clipboard: { writeText: write } });
    render(<JsonTree value={{ a: [1] }} />);
    fireEvent.click(screen.getByRole("button", { name: "Copy a" }));
    await vi.waitFor(() => expect(write).toHaveBeenCalledWith("[\n  1\n]"));
    vi.unstubAllGlobals();
  });

  it("folds long strings, and shows tricks in them", () => {
    render(<JsonTree value={{ a: `\u202E${"x".repeat(1000)}` }} />);
    expect(rows()[1]).toContain("⟦U+202E⟧");
    fireEvent.click(screen.getByRole("button", { name: "… 701 more characters" }));
    expect(rows()[1]).toContain("x".repeat(1000));
  });
});
