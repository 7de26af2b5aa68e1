import { describe, expect, it } from "vitest";
import { commitUrlAt, factsOf, fileAt } from "../../src/context/sessionFacts";

const call = (kind: string, subject: string) => ({ kind, subject });
const FACTS = factsOf({
  files: [{ path: "src/oven.py" }, { path: "tests/oven.py" }, { path: "docs/bread.md" }],
  calls: [
    call("read", "src/heat.py"),
    call("edit", "2 files"),
    call("search", "flour.py"),
    call("read", "D:\\b\\c.go"),
  ],
  commits: [
    { hash: "0a1b2c3", url: "https://github.com/bakery/oven/commit/0a1b2c3" },
    { hash: "9f8e7d6", url: null },
  ],
} as never);

describe("a text", () => {
  it.each([
    ["src/oven.py", { path: "src/oven.py" }],
    ["src/oven.py:12", { path: "src/oven.py", line: 12 }],
    ["./src/oven.py:12:4", { path: "src/oven.py", line: 12 }],
    ["src/oven.py:12-20", { path: "src/oven.py", line: 12 }],
    ["src/oven.py#L7-L9", { path: "src/oven.py", line: 7 }],
    ["file:///srv/bakery/src/heat.py#L3", { path: "src/heat.py", line: 3 }],
    ["heat.py", { path: "src/heat.py" }],
    ["c.go:3", { path: "D:\\b\\c.go", line: 3 }],
    ["D:/b/c.go", { path: "D:\\b\\c.go" }],
    ["oven.py", null], // two files
    ["at.py", null],
    ["flour.py", null],
    ["2 files", null],
    ["", null],
  ])("%j names the file %j", (text, file) => {
    expect(fileAt(text, FACTS)).toEqual(file);
  });

  it.each([
    ["0a1b2c3", "https://github.com/bakery/oven/commit/0a1b2c3"],
    ["0a1b2c3d4e5f", "https://github.com/bakery/oven/commit/0a1b2c3"],
    ["0a1b2", null],
    ["9f8e7d6", null],
    ["abcdefa", null],
  ])("%j names the commit %j", (text, url) => {
    expect(commitUrlAt(text, FACTS)).toBe(url);
  });
});
