import { describe, expect, it } from "vitest";
import { ansiLine } from "../../src/tools/ansi";
import { merged } from "../../src/tools/ansiText";
import { Lines, linesOf, MAX_LINE_LENGTH } from "../../src/tools/lines";

const E = "\u001b[";
const looks = (line: string) => ansiLine(line).spans.map(({ text, styles }) => [text, styles.join(" ")]);

describe("a terminal line", () => {
  it.each([
    ["plain", [["plain", ""]]],
    [
      `${E}31mred${E}0m no`,
      [
        ["red", "red"],
        [" no", ""],
      ],
    ],
    [`${E}1;4;92mloud`, [["loud", "green bold underline"]]],
    [`${E}38;5;208mpalette`, [["palette", "yellow"]]],
    [`${E}38;2;10;20;200mtrue`, [["true", "blue"]]],
    [`${E}30;41mwarning`, [["warning", "on-red"]]],
    [`${E}7mturned`, [["turned", "inverse"]]],
    [`${E}90mgrey`, [["grey", "grey"]]],
    [`${E}8mhidden`, [["hidden", ""]]],
    [`${E}2J${E}10;3Hmoved${E}K`, [["moved", ""]]],
    ["\u001b]8;;https://example.org\u0007link\u001b]8;;\u0007", [["link", ""]]],
    ["\u001b]0;title\u0007words", [["words", ""]]],
    ["bo\bold", [["bold", ""]]],
    ["bell\u0007", [["bell⟦U+0007⟧", ""]]],
    ["\u202Eevil", [["⟦U+202E⟧evil", ""]]],
    ["", []],
  ])("%j", (line, spans) => {
    expect(looks(line)).toEqual(spans);
  });

  it.each([
    ["10 %\r100 %", "100 %"],
    ["abcdef\rxy", "xycdef"],
    ["line\r", "line"],
    ["\r\r", ""],
    [`${E}31mold and long${E}0m\r${E}32mnew${E}0m`, `${E}32mnew${E}0m`],
  ])("%j is overwritten to %j", (line, left) => {
    expect(merged(line)).toBe(left);
  });

  it("passes its colours to the next line", () => {
    const lines = linesOf(`${E}31mone\ntwo\n${E}0mthree`, true);
    expect(lines.map((line) => line.spans[0]?.styles.join(" "))).toEqual(["red", "red", ""]);
  });
});

describe("lines of a text that arrives in pieces", () => {
  const whole = "first\nsecond 👩‍🚀\n\nlast";
  it("equal the lines of the whole text, wherever it is split", () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      const lines = new Lines(false);
      lines.add(whole.slice(0, cut), false);
      lines.add(whole.slice(cut), true);
      expect(lines.all.map((line) => line.spans.map((span) => span.text).join(""))).toEqual(
        whole.split("\n"),
      );
      expect(lines.all.map((line) => line.number)).toEqual([1, 2, 3, 4]);
    }
  });

  it("are split if they are long, and marked as continued", () => {
    const text = `${"x".repeat(2.5 * MAX_LINE_LENGTH)}\nnext`;
    const lines = linesOf(text);
    expect(lines.map((line) => line.continues)).toEqual([true, true, false, false]);
    expect(lines.map((line) => line.number)).toEqual([1, undefined, undefined, 2]);
  });

  it("are emitted before the end of a very long line", () => {
    const lines = new Lines(false);
    for (let piece = 0; piece < 10; piece++) lines.add("y".repeat(MAX_LINE_LENGTH), false);
    expect(lines.all.length).toBeGreaterThan(5);
    lines.add("\nend", true);
    const drawn = lines.all.map((line) => line.spans.map((span) => span.text).join("")).join("");
    expect(drawn).toBe(`${"y".repeat(10 * MAX_LINE_LENGTH)}end`);
    expect(lines.all.at(-1)?.number).toBe(2);
    expect(lines.all.at(-2)?.continues).toBe(false);
  });

  it("never split a surrogate pair", () => {
    const [one, two] = linesOf(`${"x".repeat(MAX_LINE_LENGTH - 1)}😀y`);
    expect(one?.spans[0]?.text).toBe("x".repeat(MAX_LINE_LENGTH - 1));
    expect(two?.spans[0]?.text).toBe("😀y");
  });
});
