import { describe, expect, it } from "vitest";
import { ready } from "../../src/tools/call";
import { foundBy, literals, markedPieces, parsedLines } from "../../src/tools/finding";
import { linksOf } from "../../src/tools/links";
import { questionsOf, todosOf } from "../../src/tools/plans";
import { languageOf, rangeOf, unnumbered } from "../../src/tools/reading";
import { call, json } from "./calls";

describe("a file that was read", () => {
  it.each([
    ["Claude Code", "     7→a\n     8→\n     9→  b", { text: "a\n\n  b", first: 7 }],
    ["OpenCode", "<file>\n00003| a\n00004| b\n\n(End of file)\n</file>", { text: "a\nb", first: 3 }],
    ["cat", "1\ta\n2\tb\n", { text: "a\nb", first: 1 }],
    ["nobody", "1 apple\n2 pears", { text: "1 apple\n2 pears", first: 1 }],
    ["some lines alone", "1→a\nb", { text: "1→a\nb", first: 1 }],
    [
      "a reminder below",
      "1→a\n\n<system-reminder>hm</system-reminder>",
      { text: "a", note: "<system-reminder>hm</system-reminder>" },
    ],
  ])("is freed from numbers of %s", (_, text, file) => {
    expect(unnumbered(text)).toMatchObject(file);
  });

  it.each([
    [{ offset: 10, limit: 50 }, "lines 10–59"],
    [{ offset: 10 }, "lines 10 on"],
    [{ view_range: [3, 7] }, "lines 3–7"],
    [{}, ""],
  ])("%j is %j", (input, range) => {
    expect(rangeOf(ready(call("Read", { file_path: "a", ...input })))).toBe(range);
  });

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
    [
      "ripgrep",
      "a.py:3:x = 1\na.py-4-y\nb.py:9:z",
      [
        ["a.py", 2],
        ["b.py", 1],
      ],
      2,
    ],
    ["Gemini CLI", "Found 2 matches for pattern:\n---\nFile: a.py\nL3: x\nL4: y\n---", [["a.py", 2]], 2],
    ["OpenCode", "Found 1 matches\n/w/a.py:\n  Line 3: x", [["/w/a.py", 1]], 1],
    [
      "a glob",
      "a.py\nsrc/b c.py",
      [
        ["a.py", 0],
        ["src/b c.py", 0],
      ],
      2,
    ],
    [
      "counts",
      "a.py:3\nb.py:1",
      [
        ["a.py", 0],
        ["b.py", 0],
      ],
      4,
    ],
    ["nothing", "No matches found", [], 0],
  ] as const)("is grouped by file: %s", (_, text, groups, total) => {
    const found = parsedLines(text.split("\n"));
    expect(found.groups.map((one) => [one.path, one.hits.length])).toEqual(groups);
    expect(found.total).toBe(total);
  });

  it("is the list that the agent kept", () => {
    const more = { toolMetadata: { claude: { toolUseResult: { filenames: ["a", "b"], numFiles: 2 } } } };
    expect(foundBy(ready(call("Glob", { pattern: "*" }, "a\nb", more))).groups).toHaveLength(2);
  });

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

  it("on the web is a list of links, each once", () => {
    const page = { title: "A", url: "https://example.org/a" };
    const links = linksOf(
      ready(call("web_search", {}, json({ results: [{ content: [page, page] }, { uri: "x" }] }))),
    );
    expect(links.map((one) => one.url)).toEqual(["https://example.org/a", "x"]);
  });
});

describe("things to do", () => {
  it.each([
    [{ todos: [{ content: "a", status: "completed" }] }, [["a", "done"]]],
    [{ plan: [{ step: "a", status: "in_progress" }] }, [["a", "active"]]],
    [
      { items: [{ text: "a", completed: true }, { text: "b" }] },
      [
        ["a", "done"],
        ["b", "open"],
      ],
    ],
    [
      { todos: [{ description: "a", status: "cancelled" }, { status: "constructor" }] },
      [
        ["a", "dropped"],
        ["…", "open"],
      ],
    ],
    [{ todos: "none" }, []],
  ])("%j", (input, todos) => {
    const found = todosOf(ready(call("todo", input)));
    expect(found.map((one) => [one.text, one.progress])).toEqual(todos);
  });
});

describe("a question", () => {
  it.each([
    [
      { question: "Q", options: ["a", "b"] },
      "b",
      [{ text: "Q", answer: "b", choices: [{ label: "a" }, { label: "b" }] }],
    ],
    [
      { questions: [{ question: "Q" }, { question: "R" }] },
      "both",
      [
        { text: "Q", answer: "" },
        { text: "R", answer: "both" },
      ],
    ],
  ])("%j is answered by %s", (input, output, questions) => {
    expect(questionsOf(ready(call("ask_user", input, output)))).toMatchObject(questions);
  });
});
