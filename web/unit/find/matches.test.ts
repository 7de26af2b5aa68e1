import { describe, expect, it } from "vitest";
import {
  indexFrom,
  indexOfPlace,
  inOrder,
  occurrenceAt,
  patternOf,
  totalOf,
  wordsOf,
} from "../../src/find/matches";

const ORDER = new Map(["a", "b", "c", "d"].map((id, index) => [id, index]));
const PARTS = inOrder(
  [
    { messageId: "c", part: "0", count: 2 },
    { messageId: "elsewhere", part: "0", count: 9 },
    { messageId: "a", part: "0", count: 1 },
    { messageId: "c", part: "1", count: 3 },
  ],
  ORDER,
);

describe("matches in the order of the messages", () => {
  it("leaves out messages that are not shown", () => {
    expect(PARTS.map((one) => [one.messageId, one.part, one.before])).toEqual([
      ["a", "0", 0],
      ["c", "0", 1],
      ["c", "1", 3],
    ]);
    expect(totalOf(PARTS)).toBe(6);
    expect(totalOf([])).toBe(0);
  });

  it("has an occurrence for each index", () => {
    const all = [-1, 0, 1, 2, 3, 5, 6].map((index) => {
      const found = occurrenceAt(PARTS, index);
      return found && `${found.found.messageId}/${found.found.part} ${found.number}`;
    });
    expect(all).toEqual([null, "a/0 0", "c/0 0", "c/0 1", "c/1 0", "c/1 2", null]);
  });

  it("finds the occurrence at a place, and the next one from a message", () => {
    expect(indexOfPlace(PARTS, { messageId: "c", part: "1" })).toBe(3);
    expect(indexOfPlace(PARTS, { messageId: "c", part: null })).toBe(1);
    expect(indexOfPlace(PARTS, { messageId: "b", part: null })).toBe(-1);
    expect(["a", "b", "c", "d", null].map((id) => indexFrom(PARTS, ORDER, id))).toEqual([0, 1, 1, 0, 0]);
  });
});

const found = (texts: readonly string[], text: string, flags = "") =>
  [...text.matchAll(patternOf(texts, flags) ?? /$^/g)].map(([match]) => match);

describe("the pattern of the texts that were found", () => {
  it.each([
    [["the"], "the other, The the", ["the", "the"]],
    [["Lantern"], "getLantern() Lanterns Lantern LANTERN", ["Lantern", "Lantern"]],
    [["HTTP", "server"], "HTTPServer HTTP server", ["HTTP", "HTTP", "server"]],
    [["red switch"], "red\n  switch, red-switch, redswitch", ["red\n  switch", "red-switch"]],
    [["a.b(c)"], "a.b(c) aXbYc", ["a.b(c"]],
    [["京"], "東京タワー", ["京"]],
    [["für"], "für fürs", ["für"]],
    [["lamp", "lamps"], "lamps lamp", ["lamps", "lamp"]],
  ])("finds %j in %j", (texts, text, expected) => {
    expect(found(texts, text)).toEqual(expected);
  });

  it("is null without a letter, and may ignore case", () => {
    expect(patternOf(["…", ""])).toBeNull();
    expect(found(["lamp"], "Lamp", "i")).toEqual(["Lamp"]);
  });

  it("is made from the words of a query if the server names none", () => {
    expect(wordsOf('lamp -dark "red switch" tool:Bash file:app.py OR --dry')).toEqual([
      "lamp",
      '"red',
      'switch"',
      "app.py",
      "--dry",
    ]);
  });
});
