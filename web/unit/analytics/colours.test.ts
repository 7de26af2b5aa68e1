import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { colourIn, orderOf } from "../../src/analytics/colours";
import type { Stat } from "../../src/api/analytics";

const css = readFileSync(join(import.meta.dirname, "../../src/styles/tokens.css"), "utf8");
const [light = "", dark = ""] = css.split(':root[data-theme="dark"]');

const luminance = (hex: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one: string, two: string): number => {
  const [high = 0, low = 0] = [luminance(one), luminance(two)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const token = (theme: string, name: string): string =>
  new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(theme)?.[1] ?? "";

it.each([
  ["light", light],
  ["dark", dark],
])("the series can be distinguished from the background, and carry text, in the %s theme", (_, theme) => {
  for (let number = 1; number <= 9; number++) {
    const colour = token(theme, `series-${number}`);
    expect(contrast(colour, token(theme, "surface"))).toBeGreaterThan(4.5);
    expect(contrast(colour, token(theme, "ground"))).toBeGreaterThan(3);
    expect(contrast(colour, token(theme, "on-accent"))).toBeGreaterThan(4.5);
  }
});

it("the first names have colours of their own", () => {
  const stat = (key: string | null, cost: number, tokens: number): Stat =>
    ({ key: [key], cost, inputTokens: tokens, outputTokens: 0, threads: 1 }) as unknown as Stat;
  const order = orderOf("model", [stat("a", 1, 5), stat(null, 9, 9), stat("b", 3, 1), stat("c", 0, 1)]);
  expect(order).toEqual(["a", "b", "c"]);
  expect(["a", "c", "No model"].map((name) => colourIn(order, name))).toEqual([0, 2, 7]);
});
