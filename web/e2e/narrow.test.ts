import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importBreadSession } from "./setup/session";
import { type Site, serve } from "./setup/site";

const LONG = "a-very-long-name-without-any-place-to-break-it-".repeat(4);

/** Every view, and what shows that it has loaded. `RUN` and `OTHER` are runs. */
const VIEWS: readonly (readonly [hash: string, ready: string])[] = [
  ["#/", "section[aria-labelledby] [data-session]"],
  ["#/sessions", "[role=main] a[href*='#/t/']"],
  ["#/t/s1", "text=I knead the dough."],
  ["#/t/long", "text=The end of it."],
  ["#/new", "textarea"],
  ["#/analytics", "main svg"],
  ["#/compare", "main h1"],
  ["#/compare?a=RUN&b=OTHER", "main h1"],
  ["#/convert", "main textarea, main h1"],
  ["#/run/RUN", "main [role=slider], main input[type=range]"],
  ["#/settings", "text=Density"],
  ["#/settings/sources", "text=More folders"],
  ["#/settings/prices", "text=claude-baker"],
  ["#/settings/redaction", "text=Other texts"],
];

/** The elements that are wider than the screen, but not inside of one that scrolls. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      element !== document.body &&
      (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const main = document.querySelector("main");
    const wide = [...document.querySelectorAll("body *")].filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width > 0 && box.right > width + 1 && !scrolls(element.parentElement);
    });
    return [
      ...[document.documentElement, ...(main ? [main] : [])]
        .filter((one) => one.scrollWidth > one.clientWidth)
        .map((one) => `${one.tagName}: ${one.scrollWidth} > ${one.clientWidth}`),
      ...wide.map((one) => one.outerHTML.slice(0, 120)),
    ];
  });

describe("a screen of 390 pixels", () => {
  let site: Site;
  const runs: string[] = [];
  beforeAll(async () => {
    site = await serve();
    const bread = { degrees: 200, last: "It is baked.", thinks: true };
    runs.push(await importBreadSession(site, { ...bread, session: "s1" }));
    runs.push(await importBreadSession(site, { ...bread, session: "s2", degrees: 220 }));
    await site.seed([
      {
        thread: { id: "long", title: LONG, agent: "claude-code", project: `/home/ada/${LONG}` },
        messages: [
          { id: "m1", role: "user", content: `${LONG}\n\n\`\`\`\n${LONG}${LONG}\n\`\`\`` },
          {
            id: "m2",
            role: "assistant",
            content: `| a | b | c |\n|---|---|---|\n| ${LONG} | ${LONG} | ${LONG} |\n\n\`${LONG}\`\n\nThe end of it.`,
          },
        ],
      },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it.each(VIEWS)("shows %s without scrolling sideways", async (view, ready) => {
    const hash = view.replace("RUN", runs[0] ?? "").replace("OTHER", runs[1] ?? "");
    const page = await site.open(hash, { viewport: { width: 390, height: 844 } });
    await page.locator(ready).first().waitFor();
    await page.evaluate(() => document.fonts.ready);
    expect(await tooWide(page)).toEqual([]);
    expect(await violationsInBoth(page)).toEqual([]);
  });

  it("has a bar with targets of 44 pixels, above the safe area", async () => {
    const page = await site.open("", { viewport: { width: 390, height: 844 } });
    const bar = page.getByRole("navigation", { name: "Sections" });
    await bar.getByRole("link", { name: "Home" }).waitFor();
    expect(await page.locator("meta[name=viewport]").getAttribute("content")).toContain("viewport-fit=cover");
    for (const target of await bar.locator("a:visible, button:visible").all()) {
      const box = await target.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
      expect(await target.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    }
  });
});
