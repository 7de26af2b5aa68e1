import { gzipSync } from "node:zlib";
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

  it("loads less than 240 kB of scripts and styles for the first view", async () => {
    await site.seed([
      { thread: { id: "first", title: "First" }, messages: [{ id: "m", role: "user", content: "Hello" }] },
    ]);
    const page = await site.open();
    // What is loaded while the page is idle is not needed for the first view, nor are the fonts.
    await page.addInitScript(() => {
      window.requestIdleCallback = () => 0;
    });
    for (const [hash, text] of [
      ["#/", "Last 7 days"],
      ["#/t/first", "Hello"],
    ] as const) {
      await page.goto("about:blank");
      await page.goto(`${site.address}/${hash}`);
      await page.getByText(text).first().waitFor();
      const loaded = await page.evaluate(() =>
        performance.getEntriesByType("resource").map((entry) => entry.name),
      );
      const files = loaded.filter((url) => /\.(?:js|css)$/.test(url));
      const sizes = files.map(async (url) => gzipSync(await (await fetch(url)).arrayBuffer()).length);
      const sum = (all: readonly number[]) => all.reduce((before, one) => before + one, 0);
      const loadedSizes = await Promise.all(sizes);
      const scripts = sum(loadedSizes.filter((_, at) => files[at]?.endsWith(".js")));
      expect(scripts).toBeGreaterThan(50_000);
      expect(scripts, hash).toBeLessThan(230_000);
      expect(sum(loadedSizes), hash).toBeLessThan(240_000);
    }
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await site.open("");
    await page.getByRole("link", { name: "Analytics" }).waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });
});

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
