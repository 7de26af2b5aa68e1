import { describe, expect, it } from "vitest";
import type { InspectedLoss, Inspection } from "../../src/api/convert";
import { countByKind, findingsOf, marksOf } from "../../src/convert/findings";

const loss = (path: string, rest: Partial<InspectedLoss> = {}): InspectedLoss => ({
  path,
  what: '"x"',
  why: "no place",
  severity: "lost",
  side: "reading",
  ...rest,
});

const inspection = (losses: readonly InspectedLoss[], rest: Partial<Inspection> = {}): Inspection => ({
  bytes: 9,
  guesses: [],
  losses,
  notes: [],
  shape: "document",
  ...rest,
});

describe("findings", () => {
  it("have the severity of a loss and its range in the text", () => {
    const text = '[{"a":1,"b":2}]';
    const found = findingsOf(inspection([loss("$[0].b", { severity: "minor" })]), text);
    expect(found.map((one) => [one.severity, one.ranges])).toEqual([["minor", [{ start: 8, end: 13 }]]]);
    expect(marksOf(found).map(({ start, end }) => text.slice(start, end))).toEqual(['"b":2']);
  });

  it("of reading come before those of writing", () => {
    const found = findingsOf(inspection([loss("$[0]", { side: "writing" }), loss("$[1]")]), "[{},{}]");
    expect(found.map((one) => one.side)).toEqual(["reading", "writing"]);
  });

  it("are counted by severity, the most severe first", () => {
    const losses = (["minor", "lost", "changed", "lost"] as const).map((severity) => loss("$", { severity }));
    const found = findingsOf(inspection(losses, { notes: [{ what: "passed over" }] }), "[]");
    expect(countByKind(found)).toEqual([
      ["lost", 2],
      ["changed", 1],
      ["minor", 1],
      ["noted", 1],
    ]);
    expect(countByKind([])).toEqual([]);
  });
});
