import { describe, expect, it } from "vitest";
import { ready } from "../../src/tools/call";
import { commandOf, ranOf } from "../../src/tools/shell";
import { call, failed, json } from "./calls";

describe("a command", () => {
  it.each([
    [{ command: "ls" }, "ls"],
    [{ cmd: "ls" }, "ls"],
    [{ command: ["bash", "-lc", "ls | wc"] }, "ls | wc"],
    [{ command: ["ls", "-l"] }, "ls -l"],
    [{ action: { command: ["sh", "-c", "ls"] } }, "ls"],
    [{ bash_id: "7" }, "7"],
    [{ code: "print(1)" }, "print(1)"],
    ["ls as text", "ls as text"],
    [{}, ""],
  ])("%j runs %s", (input, command) => {
    expect(commandOf(ready(call("shell", input)))).toBe(command);
  });

  it.each([
    ["plain", "hello\n", { output: "hello\n", code: undefined }],
    ["Codex, by name", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno\n", { output: "no\n", code: 1 }],
    [
      "Codex, by process",
      "Wall time: 2 s\nProcess exited with code 127\nOutput:\nno",
      { output: "no", code: 127 },
    ],
    [
      "Codex, at work",
      "Chunk ID: 1\nWall time: 2 s\nProcess running with session ID 9\nOutput:\nso far",
      { output: "so far", code: undefined, note: "Process running with session ID 9" },
    ],
    ["Claude Code, failed", failed("Exit code 2\nno such file"), { output: "no such file", code: 2 }],
    ["Gemini CLI", "Command: ls\nOutput: x\nExit Code: 3\n", { code: 3 }],
    ["older Codex", '{"output":"no","metadata":{"exit_code":4}}', { output: "no", code: 4 }],
    ["an object", json({ stdout: "a", stderr: "b", exitCode: 0 }), { output: "a", errors: "b", code: 0 }],
    ["true is no code", json({ output: "a", exit: true }), { output: "a", code: undefined }],
  ] as const)("ends as told by %s", (_, output, ran) => {
    expect(ranOf(ready(call("shell", { command: "x" }, output)))).toMatchObject(ran);
  });

  it("ends as told beside the output", () => {
    const more = { toolMetadata: { opencode: { metadata: { exit: 5 } } } };
    expect(ranOf(ready(call("bash", { command: "x" }, "out", more))).code).toBe(5);
  });

  it("keeps complaints apart where the agent did", () => {
    const more = { toolMetadata: { claude: { toolUseResult: { stdout: "a", stderr: "b" } } } };
    expect(ranOf(ready(call("Bash", { command: "x" }, "a\nb", more)))).toMatchObject({
      output: "a",
      errors: "b",
    });
  });
});
