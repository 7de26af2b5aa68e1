import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

describe("the page", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve({ cold: true }); // as when a user starts it
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("shows its keyboard shortcuts", async () => {
    const page = await site.open();
    await page.getByRole("link", { name: "Analytics" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).tabIndex)).toBe(0); // scrolled by keys
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("remembers its theme", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Dark colours" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Light colours" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  });

  it("loads less than 220 kB of scripts and styles for the first view", async () => {
    const messages = [{ id: "m", role: "user", content: "Hello" }];
    const metadata = { sessionId: "original" };
    await site.seed([
      { thread: { id: "chat", title: "Chat" }, messages },
      { thread: { id: "imported", title: "Imported", agent: "codex", metadata }, messages },
    ]);
    for (const [hash, text] of [
      ["#/", "Last 7 days"],
      ["#/t/chat", "Hello"],
      ["#/t/imported", "Hello"],
    ] as const) {
      const page = await site.open(hash, { fresh: true });
      await page.locator("main").getByText(text).first().waitFor();
      const files = await quiet(() => loadedFiles(page));
      expect(files.length, `files of ${hash}`).toBeLessThan(12); // many small ones take longer
      const sizes = await Promise.all(
        files.map(async (url) => gzipSync(await (await fetch(url)).arrayBuffer(), { level: 9 }).length),
      );
      const sum = sizes.reduce((before, one) => before + one, 0);
      expect(sum, hash).toBeGreaterThan(100_000);
      expect(sum, hash).toBeLessThan(220_000); // with the command palette, which is loaded while the page is idle
    }
  });

  it("loads the view of sessions before a link to one is followed", async () => {
    await site.seed([
      { thread: { id: "linked", title: "Linked" }, messages: [{ id: "m", role: "user", content: "Hi" }] },
    ]);
    const page = await site.open("", { fresh: true });
    const link = page.locator('[data-thread="linked"]');
    await link.waitFor();
    const isLoaded = async () => (await loadedFiles(page)).some((url) => /session-.*\.js$/.test(url));
    await quiet(() => loadedFiles(page));
    expect(await isLoaded()).toBe(false);
    await link.hover();
    await expect.poll(isLoaded).toBe(true);
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await site.open("");
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });
});

/** The scripts and styles that a page has loaded. */
const loadedFiles = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => name)
      .filter((url) => /\.(?:js|css)$/.test(url)),
  );

/** What a page has loaded when nothing is added for a second. (It is never idle on the network: it follows a feed.) */
async function quiet<T>(load: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let before = await load(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = await load();
    if (now.length === before.length) return now;
    before = now;
  }
}

describe("a server with a token", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve({ args: ["--token"] });
  });
  afterAll(() => site.stop());

  it("accepts only a browser that opens the printed address", async () => {
    const expected = [/401/];
    const stranger = await site.open("", { fresh: true, expected });
    await stranger.getByRole("heading", { name: "This server requires an API key" }).waitFor();
    const page = await site.open("", { fresh: true, expected });
    await page.goto(`${site.address}${site.entrance}`);
    await page.getByRole("link", { name: "Analytics" }).waitFor();
    expect(page.url()).not.toContain("token");
    await page.reload();
    await page.getByRole("link", { name: "Analytics" }).waitFor();
    await site.closePages();
    site.check();
  });
});
