// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { JsonTree } from "../../src/tools/JsonTree";
import { PAGE, seekRow, treeRows } from "../../src/tools/tree";

afterEach(cleanup);
const CLOSED = { containers: new Map(), pages: new Map() };

function deep(levels: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
}

describe("a word in a value", () => {
  const value = { note: "a lamp", lamp: [{ at: Array.from({ length: 150 }, (_, n) => `lamp ${n}`) }] };
  const pattern = /lamp/g;

  it("is found in the order of the rows, and becomes visible", () => {
    for (const [number, name, at] of [
      [0, "note", 0],
      [1, "lamp", 0],
      [2, 0, 0],
      [151, 149, 0],
    ] as const) {
      const found = seekRow(value, CLOSED, { pattern, number });
      if (typeof found === "number") throw new Error(`only ${found}`);
      expect(found.row).toMatchObject({ name, at });
      const rows = treeRows(value, 1, found.state);
      expect(rows.some((row) => row.parent === found.row.parent && row.name === name)).toBe(true);
      expect(seekRow(value, found.state, { pattern, number })).toMatchObject({ state: found.state });
    }
    expect(seekRow(value, CLOSED, { pattern, number: 152 })).toBe(152);
  });

  it("is found 5,000 levels deep, and at its end in a long text", () => {
    const found = seekRow(deep(5000), CLOSED, { pattern: /bottom/g, number: 0 });
    expect(found).toMatchObject({ row: { name: "in", at: 0, end: 6 } });
    expect(seekRow("gull ".repeat(1000), CLOSED, { pattern: /gull/g, number: 999 })).toMatchObject({
      row: { name: null, at: 999, end: 4999 },
    });
  });
});

describe("the rows of a value", () => {
  it("contain the requested number of levels", () => {
    expect(treeRows(deep(9), 2, CLOSED)).toHaveLength(2);
  });

  it("can be 5,000 levels deep", () => {
    const value = deep(5000);
    const containers = new Map<object, boolean>();
    for (let at = value; typeof at === "object" && at; at = (at as { in: unknown }).in)
      containers.set(at, true);
    expect(treeRows(value, 0, { ...CLOSED, containers })).toHaveLength(5000);
  });

  it("page long arrays", () => {
    const value = Array.from({ length: 250 }, (_, at) => at);
    const rows = treeRows(value, 1, CLOSED);
    expect(rows).toHaveLength(PAGE + 1);
    expect(rows.at(-1)).toMatchObject({ kind: "more", count: 150 });
    expect(treeRows(value, 1, { ...CLOSED, pages: new Map([[value, 3]]) })).toHaveLength(250);
  });

  it("contain members named like inherited ones", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3}');
    expect(treeRows(value, 1, CLOSED).map((row) => row.name)).toEqual([
      "__proto__",
      "constructor",
      "toString",
    ]);
  });
});

describe("a tree", () => {
  const rows = () => screen.getAllByRole("treeitem").map((row) => row.textContent);

  it("is navigated and expanded by keyboard", () => {
    render(<JsonTree value={{ z: 0, a: { b: 1 }, c: 2 }} open={1} />);
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

  it("truncates long strings, and makes hidden characters visible", () => {
    render(<JsonTree value={{ a: `\u202E${"x".repeat(1000)}` }} />);
    expect(rows()[0]).toContain("⟦U+202E⟧");
    fireEvent.click(screen.getByRole("button", { name: "… 701 more characters" }));
    expect(rows()[0]).toContain("x".repeat(1000));
  });
});
