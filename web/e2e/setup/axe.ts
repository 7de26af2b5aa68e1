/** Accessibility checks with axe. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules that depend on colours. */
const COLOUR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

interface Axe {
  run: (
    where: Element,
    how: object,
  ) => Promise<{
    violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
  }>;
}

/** The violations of a page. */
export const violations = (page: Page): Promise<string[]> => check(page, ALL_RULES, "html");

/**
 * The violations of a page in the light theme, and those of its colours in the dark theme. `within` limits the check
 * to an element.
 */
export async function violationsInBoth(page: Page, within = "html"): Promise<string[]> {
  const light = await check(page, ALL_RULES, within);
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction((then) => getComputedStyle(document.body).backgroundColor !== then, before);
  const dark = await check(page, COLOUR_RULES, within);
  await page.emulateMedia({ colorScheme: "light" });
  return [...light, ...dark.map((one) => `in the dark theme, ${one}`)];
}

type Rules = readonly string[] | typeof COLOUR_RULES;

async function check(page: Page, runOnly: Rules, within: string): Promise<string[]> {
  // Injected through the debugger, so that the Content-Security-Policy of the page stays unchanged.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  return page.locator(within).evaluate(async (where, rules) => {
    const { axe } = window as unknown as { axe: Axe };
    const found = await axe.run(where, {
      runOnly: rules,
      resultTypes: ["violations"],
      preload: { assets: ["media"] }, // no rule needs the style sheets
    });
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${id}: ${help}\n  ${html.slice(0, 300)}\n  ${failureSummary ?? ""}`,
      ),
    );
  }, runOnly);
}
