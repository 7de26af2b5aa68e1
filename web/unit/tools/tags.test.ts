import { describe, expect, it } from "vitest";
import { fieldsOf, resultOf, splitReminders, withoutErrorTags, withoutLinks } from "../../src/tools/tags";

describe("tags for the model", () => {
  it.each([
    [
      "<status>running</status>\n\n<exit_code>0</exit_code>",
      [
        ["status", "running"],
        ["exit_code", "0"],
      ],
    ],
    ["<output>\na\n  b\n</output>", [["output", "a\n  b"]]],
    ["<status>done</status> and more", null],
    ["<p>a</p><div>b</div>", null],
    ["<status>a</status><status>b</status>", null],
    ["<status>open", null],
    ["plain", null],
    ["", null],
  ])("%j has the fields %j", (text, fields) => {
    expect(fieldsOf(text)).toEqual(fields);
  });

  it("around an error are not shown", () => {
    expect(withoutErrorTags("<tool_use_error>No such file</tool_use_error>")).toBe("No such file");
  });

  it("around a reminder are not shown, and the reminder is apart", () => {
    const text = "End of file.\n<system-reminder>\nBe kind.\n</system-reminder>\n<system-reminder>Rest";
    expect(splitReminders(text)).toEqual({ text: "End of file.", reminders: "Be kind.\n\nRest" });
  });

  it.each([
    ["Found it.\nagentId: a39f (use SendMessage to continue)\n<usage>tokens: 3</usage>", "Found it."],
    ["task_id: ses_1 (for resuming)\n\n<task_result>\nFound it.\n</task_result>", "Found it."],
    ["The agentId: is a field.", "The agentId: is a field."],
  ])("are no part of the result of a sub-agent: %j", (text, result) => {
    expect(resultOf(text)).toBe(result);
  });

  it("with links are no part of the answer of a search", () => {
    expect(withoutLinks('Results:\n\nLinks: [{"title":"a"}]\n\nThe answer.')).toBe("Results:\n\nThe answer.");
  });
});
