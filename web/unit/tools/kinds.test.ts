import { describe, expect, it } from "vitest";
import { ready } from "../../src/tools/call";
import { kindOf, toolName } from "../../src/tools/kinds";
import { call, KINDS } from "./calls";

describe("what a call is", () => {
  it.each([
    ["Bash", { command: "ls" }, "terminal"],
    ["shell", { command: ["bash", "-lc", "ls"] }, "terminal"],
    ["run_shell_command", { command: "ls" }, "terminal"],
    ["shell", { command: ["bash", "-lc", "apply_patch <<'X'\n*** Begin Patch\n*** End Patch\nX"] }, "change"],
    ["MultiEdit", { file_path: "a", edits: [] }, "change"],
    ["str_replace_editor", { command: "view", path: "a" }, "read"],
    ["str_replace_editor", { command: "create", path: "a", file_text: "x" }, "change"],
    ["replace", { file_path: "a", old_string: "x", new_string: "y" }, "change"],
    ["read_many_files", { paths: ["a"] }, "read"],
    ["search_file_content", { pattern: "x" }, "search"],
    ["update_plan", { plan: [{ step: "a", status: "pending" }] }, "todo"],
    ["exit_plan_mode", { plan: "x" }, "plan"],
    ["AskUserQuestion", { questions: [] }, "question"],
    ["web_fetch", { url: "https://example.org" }, "fetch"],
    ["web_search_20250305", { query: "x" }, "websearch"],
    ["anthropic.web_search", { query: "x" }, "websearch"],
    ["spawn_agent", { message: "x" }, "agent"],
    ["mcp__files__read", { path: "a" }, "unknown"],
    ["anything", { path: "a", oldText: "x", newText: "y" }, "change"],
    ["anything", { command: "ls", cwd: "/" }, "terminal"],
    ["anything", { command: "ls", colour: "red" }, "unknown"],
    ["my_todo_tool", { todos: [{ content: "x" }] }, "todo"],
    ["constructor", {}, "unknown"],
    ["", undefined, "unknown"],
  ])("%s %j is a %s", (name, input, kind) => {
    expect(kindOf(ready(call(name, input)))).toBe(kind);
  });

  it("is a sub-agent when messages are below it, and a network when it tells of one", () => {
    const [nested, network] = KINDS.filter((one) => one.children || one.toolMetadata?.networkExecution);
    expect(kindOf(ready({ ...call("anything", {}), children: nested?.children }))).toBe("agent");
    expect(kindOf(ready(network ?? call("", {})))).toBe("network");
  });

  it.each([
    ["mcp__pantry__stock", "pantry: stock"],
    ["mcp__pantry__stock__all", "pantry: stock__all"],
    ["mcp__pantry", "mcp__pantry"],
    ["Bash", "Bash"],
  ])("%s is called %s", (name, shown) => {
    expect(toolName(name)).toBe(shown);
  });
});

describe("what a call was given", () => {
  it.each([
    ["an object", { state: "input-available", input: { a: 1 } }, { a: 1 }],
    ["an object as text", { state: "input-available", input: '{"a":1}' }, { a: 1 }],
    ["half a text", { state: "input-streaming", rawInput: '{"command":"echo hal' }, { command: "echo hal" }],
    ["a name without a value", { state: "input-streaming", rawInput: '{"a":1,"command":' }, { a: 1 }],
    ["half an escape", { state: "input-streaming", rawInput: '{"a":"x\\u00' }, { a: "x" }],
    ["nothing yet", { state: "input-streaming", rawInput: "" }, {}],
    ["no object", { state: "input-available", input: [1] }, {}],
  ] as const)("is read from %s", (_, more, input) => {
    expect(ready(call("x", undefined, undefined, more)).input).toEqual(input);
  });

  it("keeps what it gave apart from where large values are", () => {
    const url = `blob:sha256:${"a".repeat(64)}`;
    const apart = ready(call("x", {}, `${url}#text`)).given;
    expect(apart).toMatchObject({ text: "", large: [{ url, kind: "text" }] });
    const loaded = ready(call("x", {}, `${url}#text`), new Map([[url, "all of it"]])).given;
    expect(loaded).toMatchObject({ text: "all of it", large: [] });
    expect(ready(call("x", {}, url)).given).toMatchObject({ text: url, large: [] });
  });
});
