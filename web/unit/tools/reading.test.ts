import { describe, expect, it } from "vitest";
import { givenOf, textOf, withLoaded } from "../../src/tools/call";
import { languageOf } from "../../src/tools/languages";
import { literals, markedPieces } from "../../src/tools/searchWords";
import { call, caseOf, json } from "./calls";

describe("a text of a view", () => {
  it.each([
    ["Claude Code: a file with a reminder", "text", "a\n\n  b"],
    ["OpenCode: a file", "text", "a\n\nb"],
    ["Codex: a command as a list", "output", "a.py\n"],
    ["Codex: a command without a shell", "output", "a.md\n"],
    ["Anthropic: code execution", "output", "Wed"],
    ["Claude Code: separate standard error", "errors", "warning: old"],
    ["Claude Code: a plan", "plan", "# The plan\n\n1. **Mix**\n2. Bake"],
  ])("of %s is found: %s", (name, member, text) => {
    const { call, view } = caseOf(name);
    expect(textOf(call, view[member] as never)).toBe(text);
  });

  it("is empty where the call has no such text", () => {
    const part = call("x", { a: 1 }, json({ b: ["c"] }));
    for (const path of [
      ["input", "a"],
      ["input", "constructor"],
      ["output", "value", "b", 7],
      ["x", "y"],
      [],
    ])
      expect(textOf(part, { path })).toBe("");
    expect(textOf(part, { path: ["output", "value", "b", 0] })).toBe("c");
  });
});

describe("a file", () => {
  it.each([
    ["a/b.py", "py"],
    ["C:\\x\\y.TSX", "tsx"],
    ["Makefile", "makefile"],
    ["LICENSE", undefined],
  ])("%s is written in %s", (path, language) => {
    expect(languageOf(path)).toBe(language);
  });
});

describe("what was found", () => {
  it.each([
    ["heat\\(", ["heat("]],
    ["foo|bar", ["foo", "bar"]],
    ["\\bword\\b", ["word"]],
    ["a.*b", []],
    ["(x+x+)+y", []],
    ["file\\.py$", ["file.py"]],
    ["\\d+", []],
  ])("%s looks for %j", (pattern, words) => {
    expect(literals(pattern)).toEqual(words);
  });

  it("is marked where it stands", () => {
    expect(markedPieces("Heat it, heat", ["heat"])).toEqual([
      { text: "Heat", hit: true },
      { text: " it, ", hit: false },
      { text: "heat", hit: true },
    ]);
  });
});

describe("an output", () => {
  const url = `blob:sha256:${"a".repeat(64)}`;

  it("that is large is located until it is loaded", () => {
    const part = call("x", {}, `${url}#text`);
    expect(givenOf(part.output)).toMatchObject({ text: "", large: [{ url, kind: "text" }] });
    const loaded = withLoaded(part, new Map([[url, "all of it"]]));
    expect(givenOf(loaded.output)).toMatchObject({ text: "all of it", large: [] });
    expect(withLoaded(part, new Map())).toBe(part);
    expect(givenOf(call("x", {}, url).output)).toMatchObject({ text: url, large: [] });
  });

  it("of several texts is loaded text by text", () => {
    const value = [
      { type: "text", text: "a" },
      { type: "text", text: `${url}#text` },
    ] as never;
    const loaded = withLoaded(call("x", {}, { type: "content", value }), new Map([[url, "b"]]));
    expect(givenOf(loaded.output).text).toBe("a\nb");
  });
});
