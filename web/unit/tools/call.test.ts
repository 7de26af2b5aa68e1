import { describe, expect, it } from "vitest";
import { contentOf, textOf, withLoaded } from "../../src/tools/call";
import { languageOf } from "../../src/tools/language";
import { literals, markedPieces } from "../../src/tools/patternMatches";
import { call, caseOf, json } from "./calls";

describe("the text of a view", () => {
  it.each([
    ["Claude Code: a file with a reminder", "text", "a\n\n  b"],
    ["OpenCode: a file", "text", "a\n\nb"],
    ["Codex: a command as a list", "output", "a.py\n"],
    ["Codex: a command without a shell", "output", "a.md\n"],
    ["Anthropic: code execution", "output", "Wed"],
    ["Claude Code: separate standard error", "errors", "warning: old"],
    ["Claude Code: a plan", "plan", "# The plan\n\n1. **Mix**\n2. Bake"],
  ])("is located for %s: %s", (name, member, text) => {
    const { call, view } = caseOf(name);
    expect(textOf(call, view[member] as never)).toBe(text);
  });

  it("is empty if the call has no such text", () => {
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
  ])("%s has the language %s", (path, language) => {
    expect(languageOf(path)).toBe(language);
  });
});

describe("a search pattern", () => {
  it.each([
    ["heat\\(", ["heat("]],
    ["foo|bar", ["foo", "bar"]],
    ["\\bword\\b", ["word"]],
    ["a.*b", []],
    ["(x+x+)+y", []],
    ["file\\.py$", ["file.py"]],
    ["\\d+", []],
  ])("%s contains the texts %j", (pattern, words) => {
    expect(literals(pattern)).toEqual(words);
  });

  it("is marked in the results", () => {
    expect(markedPieces("Heat it, heat", ["heat"])).toEqual([
      { text: "Heat", hit: true },
      { text: " it, ", hit: false },
      { text: "heat", hit: true },
    ]);
  });
});

describe("an output", () => {
  const url = `blob:sha256:${"a".repeat(64)}`;

  it("contains references to large values until they are loaded", () => {
    const part = call("x", {}, `${url}#text`);
    expect(contentOf(part.output)).toMatchObject({ text: "", large: [{ url, kind: "text" }] });
    const loaded = withLoaded(part, new Map([[url, "complete"]]));
    expect(contentOf(loaded.output)).toMatchObject({ text: "complete", large: [] });
    expect(withLoaded(part, new Map())).toBe(part);
    expect(contentOf(call("x", {}, url).output)).toMatchObject({ text: url, large: [] });
  });

  it("replaces each reference by its text", () => {
    const value = [
      { type: "text", text: "a" },
      { type: "text", text: `${url}#text` },
    ] as never;
    const loaded = withLoaded(call("x", {}, { type: "content", value }), new Map([[url, "b"]]));
    expect(contentOf(loaded.output).text).toBe("a\nb");
  });
});
