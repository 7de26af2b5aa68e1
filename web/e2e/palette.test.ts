import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const dialog = (page: Page) => page.getByRole("dialog", { name: "Command palette" });
const field = (page: Page) => page.getByRole("combobox", { name: "Search sessions, commands and settings" });
const options = (page: Page) => dialog(page).getByRole("option");
const current = (page: Page) => dialog(page).getByRole("option", { selected: true });

const thread = (id: string, title: string, text: string) => ({
  thread: { id, title, agent: "claude-code", project: "/srv/lighthouse" },
  messages: [{ id: `${id}-m`, role: "user", content: text }],
});

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await field(page).waitFor();
}

describe("the command palette", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      thread("lamp", "Repair the lamp", "The lamp is dark."),
      thread("fog", "Sound the horn in fog", "The horn is silent since the dynamo failed."),
      thread("log", "Read the log book", "How many ships?"),
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("opens a session by a part of its title, from the keyboard", async () => {
    const page = await site.open("#/t/log");
    await page.getByText("How many ships?").first().waitFor();
    await openPalette(page);
    await dialog(page).getByText("Recent sessions").waitFor();
    await options(page).filter({ hasText: "Repair the lamp" }).waitFor();
    expect(await options(page).filter({ hasText: "Read the log book" }).count()).toBe(0); // it is open
    const ends = await dialog(page)
      .locator("[role=group]:is([aria-label=Sessions], [aria-label=Commands]) [role=option]")
      .evaluateAll((all) =>
        all.map((one) => {
          const last = one.lastElementChild?.getBoundingClientRect();
          return Math.round(one.getBoundingClientRect().right - (last?.right ?? 0));
        }),
      );
    expect(new Set(ends).size).toBe(1); // times and keys are at the end of their row
    await page.keyboard.type("lam");
    expect(await current(page).innerText()).toContain("Repair the lamp");
    expect(await current(page).locator("mark").allInnerTexts()).toEqual(["lam"]);
    expect(await current(page).innerText()).toContain("lighthouse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Repair the lamp" }).waitFor();
    expect(await dialog(page).count()).toBe(0);
  });

  it("finds sessions by what was said in them", async () => {
    const page = await site.open("#/t/log");
    await page.getByText("How many ships?").first().waitFor();
    await openPalette(page);
    await page.keyboard.type("dynamo");
    await options(page).filter({ hasText: "Sound the horn in fog" }).click();
    await page.getByRole("heading", { name: "Sound the horn in fog" }).waitFor();
    // It opens at the words.
    await page.getByRole("search").getByText("1 of 1").waitFor();
  });

  it("runs the commands of the view, and returns the focus", async () => {
    const page = await site.open("#/t/lamp");
    await page.getByText("The lamp is dark.").first().waitFor();
    const composer = page.getByRole("textbox", { name: "Message", exact: true });
    await composer.focus();
    await openPalette(page);
    await page.keyboard.type("jk?"); // no shortcut of the page
    expect(await field(page).inputValue()).toBe("jk?");
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.keyboard.type("go ");
    await openPalette(page);
    await page.keyboard.type("shortcuts");
    expect(await current(page).innerText()).toContain("Keyboard shortcuts");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.type("on");
    expect(await composer.inputValue()).toBe("go on");
  });

  it("changes settings, and shows what is chosen", async () => {
    const page = await site.open("#/t/lamp");
    await page.getByRole("button", { name: /^Search everything/ }).click();
    await field(page).fill("dark");
    expect(await current(page).innerText()).toContain("Theme: Dark");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await openPalette(page);
    await page.keyboard.type("theme");
    await options(page).filter({ hasText: "Theme: Dark" }).getByText("chosen").waitFor();
    const names = await options(page).allInnerTexts();
    await page.keyboard.press("ArrowUp"); // the last one
    expect(await current(page).innerText()).toBe(names.at(-1));
    await page.keyboard.press("ArrowDown");
    expect(await current(page).innerText()).toBe(names[0]);
  });

  it("searches a word in all sessions, also from a view without their list and on a phone", async () => {
    const page = await site.open("#/t/lamp", { viewport: { width: 390, height: 844 } });
    await page.getByText("The lamp is dark.").first().waitFor();
    await openPalette(page);
    await page.keyboard.type("dynamo");
    await options(page).filter({ hasText: "Search for “dynamo” in all sessions" }).click();
    const search = page.getByRole("searchbox", { name: /^Search/ });
    await expect.poll(() => search.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(await search.inputValue()).toBe("dynamo");
    await page.getByText("the dynamo failed").waitFor();
  });

  it("opens fast, fits on a phone, and has no accessibility violations", async () => {
    const page = await site.open("#/t/lamp", { viewport: { width: 390, height: 844 } });
    await page.getByText("The lamp is dark.").first().waitFor();
    await openPalette(page);
    await page.keyboard.press("Escape");
    const milliseconds = await page.evaluate(async () => {
      const start = performance.now();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
      while (document.activeElement?.role !== "combobox") await new Promise(requestAnimationFrame);
      return performance.now() - start;
    });
    console.info(`the command palette opens in ${Math.round(milliseconds)} ms`);
    await options(page).first().waitFor();
    const box = await dialog(page).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844).toBe(true);
    const sideways = await dialog(page).evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(sideways).toBe(0);
    expect(await violationsInBoth(page, "dialog")).toEqual([]);
  });
});
