/** Looks over a page with axe: what it finds is a failure. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules of these that look at colours. */
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

interface Axe {
  run: (
    where: Element,
    how: object,
  ) => Promise<{
    violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
  }>;
}

/** What is wrong with a page as it stands. */
export const violations = (page: Page): Promise<string[]> => look(page, EVERYTHING, "html");

/**
 * What is wrong with a page as it stands, and with its colours once the system has turned from light to dark.
 * `within`: where something has come since it was looked over.
 */
export async function violationsInBoth(page: Page, within = "html"): Promise<string[]> {
  const light = await look(page, EVERYTHING, within);
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction((then) => getComputedStyle(document.body).backgroundColor !== then, before);
  const dark = await look(page, COLOURS, within);
  await page.emulateMedia({ colorScheme: "light" });
  return [...light, ...dark.map((one) => `in the dark, ${one}`)];
}

type Rules = readonly string[] | typeof COLOURS;

async function look(page: Page, runOnly: Rules, within: string): Promise<string[]> {
  // Through the debugger, so that the page's own policy stays as strict as it is.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  return page.locator(within).evaluate(async (where, rules) => {
    const { axe } = window as unknown as { axe: Axe };
    const found = await axe.run(where, {
      runOnly: rules,
      resultTypes: ["violations"],
      preload: { assets: ["media"] }, // no rule of ours reads the style sheets
    });
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ html, failureSummary }) => `${id}: ${help}\n  ${html.slice(0, 300)}\n  ${failureSummary ?? ""}`,
      ),
    );
  }, runOnly);
}
