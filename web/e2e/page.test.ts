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

  it("loads little JavaScript for the first view of a thread", async () => {
    await site.seed([
      { thread: { id: "first", title: "First" }, messages: [{ id: "m", role: "user", content: "Hello" }] },
    ]);
    const page = await site.open();
    const scripts: Promise<Buffer>[] = [];
    page.on("response", (response) => {
      if (response.url().endsWith(".js")) scripts.push(response.body());
    });
    await page.goto("about:blank");
    await page.goto(`${site.address}/#/t/first`);
    await page.getByText("Hello").first().waitFor();
    const bodies = await Promise.all(scripts);
    const size = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
    expect(bodies.length).toBeGreaterThan(0);
    expect(size).toBeLessThan(350_000);
    console.log(`JavaScript of the first view: ${Math.round(size / 1000)} KB compressed`);
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
