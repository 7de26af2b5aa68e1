import { describe, expect, it } from "vitest";
import { customOf, DEFAULT_OPTIONS, requestOf } from "../../src/share/options";

describe("the request to share", () => {
  it("distinguishes texts from patterns", () => {
    expect(customOf("Heron\n /CUST-\\d+/ \n\n/\n//\na/b/")).toEqual([
      { text: "Heron", pattern: false },
      { text: "CUST-\\d+", pattern: true },
      { text: "a/b/", pattern: false },
    ]);
  });

  it("contains the selected options", () => {
    expect(requestOf(DEFAULT_OPTIONS)).toEqual({
      format: "html",
      redact: { custom: [], keep: [] },
      leaveOut: { kinds: [], messages: [], parts: [] },
    });
    const request = requestOf({
      ...DEFAULT_OPTIONS,
      format: "jsonl",
      as: "ui",
      kinds: ["email"],
      parts: ["an id with spaces 2.children.0.1"],
    });
    expect(request.as).toBe("ui");
    expect(request.redact.kinds).toEqual(["email"]);
    expect(request.leaveOut.parts).toEqual([{ message: "an id with spaces", path: "2.children.0.1" }]);
  });
});
