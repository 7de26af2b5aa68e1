import { describe, expect, it } from "vitest";
import { rawText } from "../../src/conversation/raw";

const record = { seq: 1, time: "2026-03-01T12:00:00Z", runId: "r" };

describe("the text of a raw record", () => {
  it.each([
    ["indents JSON", { raw: '{"a":[1]}', encoding: "utf-8" }, '{\n  "a": [\n    1\n  ]\n}'],
    [
      "indents the JSON of a server-sent event",
      { raw: 'event: x\ndata: {"a":1}\n\n', encoding: "utf-8" },
      '{\n  "a": 1\n}',
    ],
    ["leaves other text unchanged", { raw: "plain words", encoding: "utf-8" }, "plain words"],
    ["leaves base64 unchanged", { raw: "//4=", encoding: "base64" }, "//4="],
    ["indents a chunk without raw bytes", { chunk: { type: "abort" } }, '{\n  "type": "abort"\n}'],
  ] as const)("%s", (_, content, expected) => {
    expect(rawText({ ...record, ...content }, "pretty")).toBe(expected);
  });

  it("is unchanged in the form `bytes`", () => {
    expect(rawText({ ...record, raw: '{"a":1}', encoding: "utf-8" }, "bytes")).toBe('{"a":1}');
  });
});
