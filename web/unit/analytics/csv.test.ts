import { expect, it } from "vitest";
import { csv, fileName } from "../../src/analytics/charts/csv";

it.each([
  ["plain", "plain"],
  ["with, comma", '"with, comma"'],
  ['say "so"', '"say ""so"""'],
  ["two\nlines", '"two\nlines"'],
  ["=SUM(A1)", "'=SUM(A1)"],
  ["@a,b", `"'@a,b"`],
  [-1.25, "-1.25"],
  [0.1 + 0.2, "0.30000000000000004"],
  [null, ""],
  [undefined, ""],
])("writes %j as %s", (value, expected) => {
  expect(csv(["head"], [[value]])).toBe(`head\r\n${expected}\r\n`);
});

it("writes a line per row", () => {
  expect(csv(["a", "b"], [["x", 1], ["y", 2]])).toBe("a,b\r\nx,1\r\ny,2\r\n"); // biome-ignore format: a table
});

it.each([
  ["Tokens over time", "tokens-over-time.csv"],
  ["../../etc/passwd", "etc-passwd.csv"],
  ["…", "chart.csv"],
])("names the file of %s %s", (title, expected) => {
  expect(fileName(title, "csv")).toBe(expected);
});
