import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violations, violationsInBoth } from "./setup/axe";
import { rendering } from "./setup/rendering";
import { type Site, serve } from "./setup/site";

const HOUR = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();

/** A session with a question and an answer, some hours ago. */
const session = (id: string, title: string, hours: number, more: object = {}) => ({
  thread: { id, title, project: "/home/ada/lamps", agent: "claude-code", ...more },
  messages: [
    { id: `${id}-1`, role: "user", content: "Where is the oil?", createdAt: ago(hours) },
    { id: `${id}-2`, role: "assistant", content: "In the cellar.", createdAt: ago(hours) },
  ],
});

const section = (page: Page, name: string) => page.getByRole("region", { name });

describe("Home without sessions", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("says what to try first, until it is closed or there are own sessions", async () => {
    const page = await site.open();
    const steps = section(page, "Welcome to Partita");
    await steps.getByRole("button", { name: "Search" }).click();
    await page.waitForFunction(() => document.activeElement?.matches("input[type=search]"));
    expect(await violations(page)).toEqual([]);
    await steps.getByRole("button", { name: "Do not show this again" }).click();
    await steps.waitFor({ state: "detached" });
    await page.reload();
    await section(page, "Recent sessions").getByText("No sessions yet").waitFor();
    expect(await steps.count()).toBe(0);

    await site.seed([session("demo", "A demo", 1, { metadata: { demo: true } })]);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await steps.getByRole("link", { name: "Open a demo session" }).waitFor();
    await site.seed([session("own", "My own", 1)]);
    await steps.waitFor({ state: "detached" });
  });
});

describe("Home with demo data", () => {
  it("says what this is, and leads to a demo session", async () => {
    const site = await serve({ demo: true });
    try {
      const page = await site.open();
      const steps = section(page, "Welcome to Partita");
      await steps.getByText("Partita keeps every message of your AI agents").waitFor();
      await section(page, "Sources").getByText("none with sessions").waitFor();
      expect(await violationsInBoth(page)).toEqual([]);
      await steps.getByRole("link", { name: "Open a demo session" }).click();
      await page.waitForURL(/#\/t\//);
      await page.getByRole("article").first().waitFor();
      site.check();
    } finally {
      await site.stop();
    }
  });
});

describe("Home", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      session("old", "Last week", 24 * 9),
      session("fog", "Clean the horn", 3),
      session("oil", "Buy oil", 2),
      {
        thread: { id: "post", title: "Write a postcard", agent: "codex" },
        messages: [
          { id: "post-1", role: "user", content: "Write to Ragna", createdAt: ago(30) },
          {
            id: "post-2",
            role: "assistant",
            createdAt: ago(30),
            content: {
              format: 2,
              parts: [
                {
                  type: "tool-call",
                  id: "c1",
                  name: "send",
                  input: {},
                  state: "approval-requested",
                  approval: { id: "a1" },
                },
              ],
            },
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

  it("leads to the call that waits for an approval", async () => {
    const page = await site.open();
    const waiting = section(page, "Running and waiting").getByRole("link", { name: "Write a postcard" });
    await waiting.getByText("Waiting for approval").waitFor();
    await waiting.click();
    await page.waitForURL(/#\/t\/post\?m=post-2/);
  });

  it("shows recent sessions, and first those that were opened in this browser", async () => {
    const page = await site.open();
    const recent = section(page, "Recent sessions").locator("[data-session]");
    await expect
      .poll(() => recent.evaluateAll((cards) => cards.map((card) => card.getAttribute("data-session"))))
      .toEqual(["oil", "fog", "old"]);
    await section(page, "Recent sessions").getByRole("link", { name: "Clean the horn" }).click();
    await page.getByRole("heading", { name: "Clean the horn" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await section(page, "Continue where you left off")
      .getByRole("link", { name: "Clean the horn" })
      .waitFor();
    expect(await recent.count()).toBe(2);
    await site.seed([session("new", "Light the lamp", 0)]);
    await section(page, "Recent sessions").getByRole("link", { name: "Light the lamp" }).waitFor();
    await site.api("DELETE", "api/threads/new");
    await section(page, "Recent sessions")
      .getByRole("link", { name: "Light the lamp" })
      .waitFor({ state: "detached" });
  });

  it("leads from a day of the year to its sessions", async () => {
    const page = await site.open();
    const day = page.locator("main ul a[data-at]").last();
    await day.click();
    await page.waitForURL(/\?.*(?:since|ids)=/);
    await page.locator("#sidebar").getByText("Buy oil").waitFor();
  });

  it("compares the last seven days with the seven days before, in words", async () => {
    const page = await site.open();
    const week = section(page, "Last 7 days");
    await expect
      .poll(() => week.locator("dl > div").first().innerText())
      .toMatch(/^Sessions\s+3\s+up from 1$/);
    await week.getByRole("link", { name: "3", exact: true }).click();
    await page.waitForURL(/#\/sessions\?since=/);
  });

  it("loads without moving what is already shown, within 1.5 seconds", async () => {
    const page = await site.open();
    await section(page, "Last 7 days").getByRole("link", { name: "3", exact: true }).waitFor();
    const { shift, paint } = await rendering(page);
    expect(shift).toBeLessThan(0.05);
    expect(paint).toBeGreaterThan(0);
    expect(paint).toBeLessThan(1500);
  });

  it("has no accessibility violations at three widths and in both themes", async () => {
    const page = await site.open();
    await section(page, "Last 7 days").getByRole("link", { name: "3", exact: true }).waitFor();
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width);
    }
  });

  it("has the list one tap away on a narrow screen", async () => {
    const page = await site.open("", { viewport: { width: 390, height: 844 } });
    await page.getByRole("heading", { name: "Home" }).waitFor();
    const bar = page.getByRole("navigation", { name: "Sections" });
    expect(await page.getByRole("searchbox").isVisible()).toBe(false);
    await bar.getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("searchbox").waitFor();
    expect(await page.getByRole("heading", { name: "Home" }).isVisible()).toBe(false);
    const targets = bar.locator("a:visible, button:visible");
    const labels = ["Search", "Home", "Sessions", "New chat", "Analytics", "More"];
    expect(await targets.allInnerTexts()).toEqual(labels);
    for (const target of await targets.all()) {
      const box = await target.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
      expect(await target.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    }
    await bar.getByRole("button", { name: "Search" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await bar.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
  });
});
