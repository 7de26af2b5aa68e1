import { describe, expect, it } from "vitest";
import { readShared } from "../../src/reader/data";
import { customOf, requestOf, START } from "../../src/share/options";

describe("what is shared", () => {
  it("tells words from patterns", () => {
    expect(customOf("Heron\n /CUST-\\d+/ \n\n/\n//\na/b/")).toEqual([
      { text: "Heron", pattern: false },
      { text: "CUST-\\d+", pattern: true },
      { text: "a/b/", pattern: false },
    ]);
  });

  it("asks for what was chosen", () => {
    expect(requestOf(START)).toEqual({
      format: "html",
      redact: { custom: [], keep: [] },
      leaveOut: { kinds: [], messages: [], parts: [] },
    });
    const asked = requestOf({
      ...START,
      format: "jsonl",
      as: "ui",
      kinds: ["email"],
      parts: ["an id with spaces 2.children.0.1"],
    });
    expect(asked.as).toBe("ui");
    expect(asked.redact.kinds).toEqual(["email"]);
    expect(asked.leaveOut.parts).toEqual([{ message: "an id with spaces", path: "2.children.0.1" }]);
  });
});

describe("a shared file", () => {
  it("is read, or known to be damaged", () => {
    expect(readShared('{"thread":{"id":"t"},"messages":[]}')?.facts).toEqual({});
    for (const text of ["", "{", "[]", "null", '{"messages":1,"thread":{}}'])
      expect(readShared(text)).toBeNull();
  });
});
