import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const list = (page: Page) => page.getByRole("list", { name: "Sessions", exact: true });
const edge = (page: Page) => page.getByRole("separator", { name: "Width of the list" });
const sidebar = (page: Page) => page.getByRole("complementary", { name: "Sessions" });
const widthOf = async (page: Page) => Math.round((await sidebar(page).boundingBox())?.width ?? 0);
const mainWidth = async (page: Page) => (await page.getByRole("main").boundingBox())?.width ?? 0;

describe("the list beside the view", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed(
      ["tower", "boat"].map((id) => ({
        thread: { id, title: `The ${id}`, agent: "keeper" },
        messages: [{ id: `${id}-1`, role: "user", content: `About the ${id}` }],
      })),
    );
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("is resized by the pointer and by keys, and keeps its width", async () => {
    const page = await site.open("#/t/tower");
    await list(page).waitFor();
    expect(await widthOf(page)).toBe(336);
    const box = await edge(page).boundingBox();
    if (!box) throw new Error("no edge");
    await page.mouse.move(box.x + 4, 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 104, 300, { steps: 3 });
    await page.mouse.up();
    expect(await widthOf(page)).toBe(436);
    await edge(page).focus();
    await page.keyboard.press("ArrowRight");
    expect(await widthOf(page)).toBe(452);
    await page.reload();
    await list(page).waitFor();
    expect(await widthOf(page)).toBe(452);
    await edge(page).press("End");
    expect(await widthOf(page)).toBe(560);
    await edge(page).press("Home");
    expect(await widthOf(page)).toBe(240);
    expect(await edge(page).getAttribute("aria-valuenow")).toBe("240");
    await edge(page).dblclick();
    expect(await widthOf(page)).toBe(336);
  });

  it("is folded by a key and by buttons, and unfolded to search", async () => {
    const page = await site.open("#/t/tower");
    await list(page).waitFor();
    await page.getByRole("main").focus();
    await page.keyboard.press("\\");
    await list(page).waitFor({ state: "hidden" });
    await page.reload();
    await page.getByText("About the tower").waitFor();
    expect(await list(page).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Show the list" }).click();
    await list(page).waitFor();
    await page.getByRole("complementary").getByRole("button", { name: "Fold the list" }).click();
    await list(page).waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Show the list",
    );
    await page.getByRole("main").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("boat");
    await page.getByRole("region", { name: "Search results" }).getByRole("link").first().waitFor();
  });

  it("leaves the view its space on a medium screen, and opens over it", async () => {
    const page = await site.open("#/t/tower", { viewport: { width: 768, height: 900 } });
    await page.getByText("About the tower").waitFor();
    expect(await list(page).isVisible()).toBe(false);
    expect(await mainWidth(page)).toBeGreaterThan(480);
    const before = await mainWidth(page);
    await page.getByRole("button", { name: "Show the list" }).click();
    await list(page).waitFor();
    expect(await mainWidth(page)).toBe(before);
    expect(await violationsInBoth(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await list(page).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Show the list" }).click();
    await list(page)
      .getByRole("link", { name: /The boat/ })
      .click();
    await page.getByText("About the boat").waitFor();
    await list(page).waitFor({ state: "hidden" });
    await page.goto(`${site.address}/#/`);
    await list(page).waitFor();
  });

  it("is a view of its own on a phone", async () => {
    const page = await site.open("#/sessions", { viewport: { width: 390, height: 844 } });
    await list(page).waitFor();
    expect(await page.locator("#main").isVisible()).toBe(false);
    expect(await edge(page).isVisible()).toBe(false);
    expect(await violationsInBoth(page)).toEqual([]);
    await list(page)
      .getByRole("link", { name: /The boat/ })
      .click();
    await page.getByText("About the boat").waitFor();
    expect(await list(page).isVisible()).toBe(false);
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await list(page).waitFor();
  });
});
