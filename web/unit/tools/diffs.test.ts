import { describe, expect, it } from "vitest";
import { hunksOf, pairs, rowsOf } from "../../src/tools/diffs";
import { call } from "./calls";

describe("a hunk", () => {
  const rows = rowsOf({
    oldStart: 9,
    newStart: 20,
    lines: [" same", "-degrees = 180", "+degrees = 220", "+something else"],
  });

  it("numbers the lines of both files", () => {
    expect(rows.map((row) => [row.old, row.new])).toEqual([
      [9, 20],
      [10, undefined],
      [undefined, 21],
      [undefined, 22],
    ]);
  });

  it("marks changed words", () => {
    const changed = (at: number) => rows[at]?.pieces?.filter((one) => one.changed).map((one) => one.text);
    expect(changed(1)).toEqual(["180"]);
    expect(changed(2)).toEqual(["220"]);
    expect(rows[3]?.pieces).toBeUndefined();
  });

  it("is paired for the side-by-side view", () => {
    expect(pairs(rows).map(([left, right]) => [left?.text, right?.text])).toEqual([
      ["same", "same"],
      ["degrees = 180", "degrees = 220"],
      [undefined, "something else"],
    ]);
  });
});

describe("a new file", () => {
  it("is a hunk of added lines", () => {
    const part = call("Write", { content: "one\n\ntwo\n" });
    const change = { path: "a", hunks: [{ text: { path: ["input", "content"] }, newStart: 1 }] };
    expect(hunksOf(part, change)).toEqual([{ lines: ["+one", "+", "+two"], newStart: 1 }]);
  });
});
