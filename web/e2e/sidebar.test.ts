import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { assistantRecord, importRecords, toolRecords, userRecord } from "./setup/session";
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

  it("leaves out the last facts of a session where they do not fit, and cuts none", async () => {
    const answer = assistantRecord(
      "a1",
      { type: "text", text: "Done." },
      { input_tokens: 12, output_tokens: 9 },
    );
    await importRecords(site, "5e551000-0000-4000-8000-00000000fac7", [
      userRecord("Count the boats"),
      ...Array.from({ length: 120 }, (_, at) =>
        toolRecords(`t${at}`, "Bash", { command: "look" }, "fog", true),
      ).flat(),
      {
        ...answer,
        message: {
          ...answer.message,
          model: "claude-sonnet-4-5",
          usage: { input_tokens: 900_000, output_tokens: 9 },
        },
      },
    ]);
    const page = await site.open("#/t/tower");
    const row = list(page).getByRole("link", { name: /Count the boats/ });
    await row.getByTitle(/^Duration/).waitFor();
    /** The facts that are visible, and those that are cut. */
    const facts = () =>
      row.locator("time").evaluate((time) => {
        const line = time.parentElement?.getBoundingClientRect() as DOMRect;
        const all = [...(time.parentElement?.children ?? [])].map((fact) => {
          const box = fact.getBoundingClientRect();
          const isOnLine = box.top < line.bottom - 1;
          return {
            title: fact.getAttribute("title") ?? "",
            isOnLine,
            isCut: isOnLine && box.right > line.right + 1,
          };
        });
        return {
          shown: all.filter(({ isOnLine }) => isOnLine).map(({ title }) => title.split(/[ :]/)[0]),
          cut: all.filter(({ isCut }) => isCut).length,
        };
      });
    const wide = await facts();
    expect(wide.shown.slice(-3)).toEqual([expect.stringMatching(/^\d+$/), "Cost", "Duration"]);
    expect(wide.cut).toBe(0);
    await edge(page).focus();
    await edge(page).press("Home");
    const narrow = await facts();
    expect(narrow.cut).toBe(0);
    expect(narrow.shown).not.toContain("Duration");
    expect(narrow.shown).toEqual(wide.shown.slice(0, narrow.shown.length));
    await edge(page).dblclick();
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
