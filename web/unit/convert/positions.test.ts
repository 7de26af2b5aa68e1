import { describe, expect, it } from "vitest";
import { rangeOfError } from "../../src/convert/errorPositions";
import { Positions, type Range, skipValue } from "../../src/convert/positions";
import { piecesOf, rowsOf } from "../../src/convert/rows";

/** A random number generator with a seed. */
function chance(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return Math.abs(state ^ (state >>> 13)) % below;
  };
}

const TEXTS = [
  "",
  "a",
  'say "hi"',
  "back\\slash\\",
  "new\nline",
  "ünï¢ode 😀",
  "[0].x",
  "}{][",
  "\ud83d",
  "a,b:c",
];
const NAMES = ["a", "id", "parts", 'q"uote', "dot.ted", "dot", "sl\\ash", "", "0", "ö"];

function randomValue(next: (below: number) => number, depth: number): unknown {
  const kind = next(depth > 0 ? 8 : 5);
  if (kind < 2) return TEXTS[next(TEXTS.length)];
  if (kind === 2) return [null, true, false][next(3)];
  if (kind <= 4) return [0, -1.5, 3e20, 42][next(4)];
  const size = next(4);
  if (kind <= 6) return Array.from({ length: size }, () => randomValue(next, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [NAMES[next(NAMES.length)], randomValue(next, depth - 1)]),
  );
}

function pathsOf(value: unknown, path: string): [string, unknown][] {
  const own: [string, unknown][] = [[path, value]];
  if (Array.isArray(value))
    return own.concat(value.flatMap((item, index) => pathsOf(item, `${path}[${index}]`)));
  if (typeof value === "object" && value)
    return own.concat(Object.entries(value).flatMap(([name, item]) => pathsOf(item, `${path}.${name}`)));
  return own;
}

const valueAt = (text: string, range: Range): unknown => {
  const written = text.slice(range.start, range.end);
  const member = /^("(?:[^"\\]|\\.)*")\s*:\s*/s.exec(written);
  return JSON.parse(member ? written.slice(member[0].length) : written);
};

describe("ranges of JSON paths", () => {
  it.each(Array.from({ length: 150 }, (_, seed) => seed))("are found in any value (%i)", (seed) => {
    const next = chance(seed + 1);
    const value = randomValue(next, 4);
    const text = `${" ".repeat(next(3))}${JSON.stringify(value, null, next(2) * 2)}\n`;
    const positions = new Positions(text, "document");
    for (const [path, inner] of pathsOf(value, "$")) {
      // If names contain dots, two paths may be equal: then either is right.
      const same = pathsOf(value, "$").filter(([other]) => other === path);
      const range = positions.locate(path);
      expect(range).not.toBeNull();
      if (range) expect(same.map(([, one]) => one)).toContainEqual(valueAt(text, range));
      void inner;
    }
  });

  it.each(Array.from({ length: 40 }, (_, seed) => seed))("are found in JSON lines (%i)", (seed) => {
    const next = chance(seed + 999);
    const values = Array.from({ length: 1 + next(4) }, () => ({ v: randomValue(next, 3) }));
    const text = values.map((value) => JSON.stringify(value)).join(next(2) ? "\n" : "\r\n\n");
    const positions = new Positions(text, "lines");
    values.forEach((value, index) => {
      const whole = positions.locate(`$[${index}]`);
      expect(whole && JSON.parse(text.slice(whole.start, whole.end))).toEqual(value);
      const inner = positions.locate(`$[${index}].v`);
      expect(inner && valueAt(text, inner)).toEqual(value.v);
    });
  });

  it("are found in events", () => {
    const text = 'event: a\ndata: {"type":"start"}\n\n: ping\n\ndata:{"x":[1,2]}\n\ndata: [DONE]\n\n';
    const positions = new Positions(text, "events");
    const range = positions.locate("$[1].x[1]");
    expect(range && text.slice(range.start, range.end)).toBe("2");
    expect(positions.root(2)).toBeNull();
  });

  it("are those of the longest existing prefix of a path", () => {
    const text = '[{"a":{"b":1}}]';
    const positions = new Positions(text, "document");
    const range = positions.locate("$[0].a.missing[3]");
    expect(range && text.slice(range.start, range.end)).toBe('"a":{"b":1}');
  });

  it("are found in canonical messages, whose paths begin with their name", () => {
    const text = '[{"id":"a"},{"content":{"usage":1}}]';
    const range = new Positions(text, "document").locate("messages[1].content.usage");
    expect(range && text.slice(range.start, range.end)).toBe('"usage":1');
  });

  it("treat a single message as the first of a list", () => {
    const text = '{"parts":[{"id":"x"}]}';
    const range = new Positions(text, "document").locate("$[0].parts[0].id");
    expect(range && text.slice(range.start, range.end)).toBe('"id":"x"');
  });

  it("are found at any depth, and in truncated JSON", () => {
    const deep = "[".repeat(100_000);
    expect(skipValue(deep, 0)).toBe(deep.length);
    expect(new Positions(`${deep}"x`, "document").locate("$[0][0]")).not.toBeNull();
    expect(new Positions("", "document").locate("$[0]")).toBeNull();
  });

  it("are parsed from the position of an error", () => {
    const text = '{"a": 1}\n{"b": }\n';
    expect(rangeOfError("line 2, column 7", text, null)).toEqual({ start: 15, end: 16 });
    expect(rangeOfError("line 9", text, null)).toBeNull();
    expect(rangeOfError("somewhere", text, null)).toBeNull();
    const events = 'data: {"a"\n\n';
    expect(rangeOfError("event 0, column 5", events, new Positions(events, "events"))).toEqual({
      start: 9,
      end: 10,
    });
  });
});

describe("rows of a text", () => {
  it.each([1, 3, 7, 80])("contain the whole text with %i columns", (columns) => {
    const text = "one\n\nthree is a long line 😀😀😀\nlast";
    const rows = rowsOf(text, columns);
    const lines = new Map<number, string>();
    let line = 0;
    for (let index = 0; index < rows.count; index++) {
      const row = rows.row(index);
      line = row.line ?? line;
      lines.set(line, (lines.get(line) ?? "") + text.slice(row.start, row.end));
      expect(rows.at(row.start)).toBe(index);
    }
    expect([...lines.values()].join("\n")).toBe(text);
  });

  it("show the innermost of nested marks", () => {
    const mark = (id: string, start: number, end: number) =>
      ({ id, start, end, why: "", tone: "loss" }) as const;
    const pieces = piecesOf("abcdefgh", { start: 0, end: 8 }, [mark("a", 1, 7), mark("b", 3, 5)]);
    expect(pieces.map(({ text, mark }) => [text, mark?.id ?? null])).toEqual([
      ["a", null],
      ["bc", "a"],
      ["de", "b"],
      ["fg", "a"],
      ["h", null],
    ]);
  });
});
