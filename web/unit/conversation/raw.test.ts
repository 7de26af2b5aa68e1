import { describe, expect, it } from "vitest";
import { rawText } from "../../src/conversation/raw";

const record = { seq: 1, time: "2026-03-01T12:00:00Z", runId: "r" };

describe("a raw record as text", () => {
  it.each([
    ["JSON in lines", { raw: '{"a":[1]}', encoding: "utf-8" }, '{\n  "a": [\n    1\n  ]\n}'],
    ["the JSON of an event", { raw: 'event: x\ndata: {"a":1}\n\n', encoding: "utf-8" }, '{\n  "a": 1\n}'],
    ["what is no JSON as it is", { raw: "plain words", encoding: "utf-8" }, "plain words"],
    ["bytes as base64", { raw: "//4=", encoding: "base64" }, "//4="],
    ["a chunk without bytes", { chunk: { type: "abort" } }, '{\n  "type": "abort"\n}'],
  ] as const)("shows %s", (_, told, expected) => {
    expect(rawText({ ...record, ...told }, "pretty")).toBe(expected);
  });

  it("is left alone when it is wanted as it was sent", () => {
    expect(rawText({ ...record, raw: '{"a":1}', encoding: "utf-8" }, "bytes")).toBe('{"a":1}');
  });
});
