import { describe, expect, it } from "vitest";
import { ready } from "../../src/tools/call";
import { compared, counts, pairs, rowsOf } from "../../src/tools/diffs";
import { changesOf, patch, unified } from "../../src/tools/patches";
import { call, KINDS } from "./calls";

const drawn = (hunks: readonly { lines: readonly { mark: string; text: string }[] }[]) =>
  hunks.map((hunk) => hunk.lines.map((line) => line.mark + line.text).join("\n"));

describe("two texts", () => {
  it.each([
    ["a\nb\nc", "a\nB\nc", [" a\n-b\n+B\n c"]],
    ["a", "a\n", []],
    ["", "new", ["+new"]],
    ["old", "", ["-old"]],
    ["", "", []],
  ])("%j and %j differ in %j", (before, after, hunks) => {
    expect(drawn(compared(before, after))).toEqual(hunks);
  });

  it("of many lines are told apart by place", () => {
    const before = Array.from({ length: 40 }, (_, at) => `line ${at}`);
    const after = before.with(2, "two").with(35, "thirty-five");
    expect(drawn(compared(before.join("\n"), after.join("\n")))).toHaveLength(2);
  });
});

describe("a hunk", () => {
  const rows = rowsOf({
    old: 9,
    new: 20,
    lines: [
      { mark: " ", text: "same" },
      { mark: "-", text: "degrees = 180" },
      { mark: "+", text: "degrees = 220" },
      { mark: "+", text: "something else" },
    ],
  });

  it("numbers the lines of both files", () => {
    expect(rows.map((row) => [row.old, row.new])).toEqual([
      [9, 20],
      [10, undefined],
      [undefined, 21],
      [undefined, 22],
    ]);
  });

  it("marks the words that changed", () => {
    const changed = (at: number) => rows[at]?.pieces?.filter((one) => one.changed).map((one) => one.text);
    expect(changed(1)).toEqual(["180"]);
    expect(changed(2)).toEqual(["220"]);
    expect(rows[3]?.pieces).toBeUndefined();
  });

  it("stands side by side", () => {
    expect(pairs(rows).map(([left, right]) => [left?.text, right?.text])).toEqual([
      ["same", "same"],
      ["degrees = 180", "degrees = 220"],
      [undefined, "something else"],
    ]);
  });
});

describe("what a call changed", () => {
  it("is told with numbers where the agent kept them", () => {
    const edit = KINDS.find((one) => one.name === "Edit");
    const [change] = changesOf(ready(edit ?? call("", {})));
    expect(change).toMatchObject({ path: "/home/baker/bakery/oven.py", hunks: [{ old: 9, new: 9 }] });
    expect(counts(change ? [change] : [])).toEqual({ plus: 2, minus: 1 });
  });

  it.each([
    [
      "several edits",
      {
        file_path: "a",
        edits: [
          { old_string: "x", new_string: "y" },
          { old_string: "1", new_string: "2" },
        ],
      },
      [["a", 2, 2]],
    ],
    ["a whole file", { path: "a", content: "one\ntwo" }, [["a", 2, 0]]],
    ["a cell", { notebook_path: "n.ipynb", new_source: "x = 1" }, [["n.ipynb", 1, 0]]],
    ["a patch as text", "*** Begin Patch\n*** Add File: b\n+x\n", [["b", 1, 0]]],
    [
      "a patch in a command",
      { command: ["apply_patch", "*** Begin Patch\n*** Delete File: b\n*** End Patch"] },
      [["b", 0, 0]],
    ],
    ["a unified diff", { diff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n" }, [["f", 1, 1]]],
    ["half an edit", { file_path: "a", old_string: "x" }, [["a", 0, 1]]],
    ["nothing", { file_path: "a" }, []],
  ] as const)("is read from %s", (_, input, expected) => {
    const changes = changesOf(ready(call("edit", input)));
    expect(changes.map((one) => [one.path, counts([one]).plus, counts([one]).minus])).toEqual(expected);
  });

  it("is read from patches with moves and with their end missing", () => {
    const [moved, fresh] = patch(
      "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+z",
    );
    expect(moved).toMatchObject({ path: "a", movedTo: "b", kind: "update" });
    expect(fresh).toMatchObject({ path: "c", kind: "add", hunks: [{ new: 1 }] });
  });

  it("keeps lines that look like heads of a file", () => {
    const [change] = unified("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- was a list\n-old\n+new\n", "f");
    expect(change?.hunks[0]?.lines.map((line) => line.mark)).toEqual(["-", "-", "+"]);
  });
});
