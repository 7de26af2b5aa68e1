import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../src/partita.gen";
import { fenced, firstLine, messageAsMarkdown, partAsMarkdown } from "../../src/parts/toMarkdown";

const message = (role: string, parts: unknown[]): Message =>
  ({ id: "m", role, type: "text", content: { format: 2, parts } }) as unknown as Message;

describe("a part as Markdown", () => {
  it.each([
    [{ type: "text", text: "*a*" }, "*a*"],
    [{ type: "reasoning", text: "a\n\nb" }, "> a\n>\n> b"],
    [{ type: "step-start" }, ""],
    [
      { type: "source-url", sourceId: "1", url: "https://example.org", title: "T" },
      "- [T](https://example.org)",
    ],
    [{ type: "file", url: "blob:sha256:aa", mediaType: "a/b", filename: "f.txt" }, "[f.txt](blob:sha256:aa)"],
    [
      { type: "data", name: "n", data: 1 },
      '```json\n{\n  "type": "data",\n  "name": "n",\n  "data": 1\n}\n```',
    ],
    [
      {
        type: "tool-call",
        id: "c",
        name: "ls",
        state: "output-available",
        input: { a: 1 },
        output: { type: "text", value: "x" },
      },
      '**ls** (output-available)\n\n```json\n{\n  "a": 1\n}\n```\n\n```\nx\n```',
    ],
  ])("%j", (part, wanted) => {
    expect(partAsMarkdown(part as unknown as Part)).toBe(wanted);
  });

  it("has a fence longer than any fence in its text", () => {
    expect(fenced("a\n````\nb")).toBe("`````\na\n````\nb\n`````");
  });
});

describe("a message as Markdown", () => {
  it("has the role as heading, and nested sub-agents", () => {
    const inner = message("user", [{ type: "text", text: "look" }]);
    const outer = message("assistant", [
      { type: "text", text: "well" },
      { type: "tool-call", id: "c", name: "task", state: "input-available", input: "go", children: [inner] },
    ]);
    expect(messageAsMarkdown(outer)).toBe(
      "## Assistant\n\nwell\n\n**task** (input-available)\n\n```\ngo\n```\n\n### User\n\nlook",
    );
  });

  it("has a nesting limit", () => {
    let deep = message("user", [{ type: "text", text: "bottom" }]);
    for (let level = 0; level < 5000; level += 1)
      deep = message("assistant", [
        { type: "tool-call", id: "c", name: "task", state: "input-available", children: [deep] },
      ]);
    expect(messageAsMarkdown(deep)).toContain("(1 nested message)");
  });

  it("has a first line", () => {
    expect(
      firstLine(message("user", [{ type: "step-start" }, { type: "text", text: "\n  first \nsecond" }])),
    ).toBe("first");
  });
});
