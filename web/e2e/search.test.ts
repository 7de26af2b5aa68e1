import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const results = (page: Page) => page.getByRole("region", { name: "Search results" });
const field = (page: Page) => page.getByRole("searchbox", { name: "Search sessions" });

describe("the search in all sessions", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    const message = (id: string, content: string) => ({
      id,
      role: "user",
      content,
      createdAt: "2025-03-01T09:30:00Z",
    });
    await site.seed([
      { thread: { id: "brass", title: "Brass foghorn" }, messages: [message("b1", "Where is it?")] },
      {
        thread: { id: "oil", title: "Oil" },
        messages: [
          message("o1", "Put **oil** on the [foghorn](https://oil.example/a)."),
          message("o2", "The `foghorn` is loud."),
        ],
      },
      { thread: { id: "bread", title: "Bread" }, messages: [message("p1", "Is the bread done?")] },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("counts sessions and matches, with dates and plain passages", async () => {
    const page = await site.open();
    await field(page).fill("foghorn");
    await page.getByText("2 sessions, 2 matches").waitFor();
    const oil = results(page).getByRole("link", { name: /^Oil\s*2 matches/ });
    await oil.waitFor();
    const brass = results(page).getByRole("link", { name: /Brass foghorn/ });
    await brass.locator("time").waitFor();
    const hit = results(page).getByRole("link", { name: /Put oil on the foghorn\./ });
    expect(await hit.locator("mark").allTextContents()).toEqual(["foghorn"]);
    await hit.getByText("1 Mar 2025").waitFor();
    expect(await violationsInBoth(page, "#sidebar")).toEqual([]);
    await hit.click();
    await page.waitForURL(/#\/t\/oil\?m=o1&p=0&q=foghorn$/);
  });

  it("goes from session to session by keys", async () => {
    const page = await site.open("#/t/oil");
    await page.getByRole("main").getByText("loud").waitFor();
    await field(page).fill("foghorn");
    await results(page).locator("[data-session]").nth(1).waitFor();
    const ids = await results(page)
      .locator("[data-session]")
      .evaluateAll((links) => links.map((link) => (link as HTMLElement).dataset.session));
    const other = ids.find((id) => id !== "oil");
    await page.getByRole("main").focus();
    await page.keyboard.press(ids[0] === "oil" ? "Shift+J" : "Shift+K");
    await page.waitForURL(new RegExp(`#/t/${other}$`));
  });

  it("shows a mistake in the query as a line, and that filters are ignored", async () => {
    const page = await site.open("#/?pinned=1", { expected: [/400/] });
    await field(page).fill("foghorn before:never");
    await page
      .getByRole("alert")
      .getByText(/never.* is not a time.*2026-03-01/)
      .waitFor();
    await field(page).fill("foghorn");
    await page.getByText("The search ignores the filters: pinned").waitFor();
  });

  it("is saved under a name, opened from the menu and the palette, renamed and deleted", async () => {
    const page = await site.open("#/?sort=oldest");
    await field(page).fill("bread");
    const menu = () => page.getByRole("button", { name: "Saved searches" }).click();
    await menu();
    await page.getByRole("menuitem", { name: /Save this search/ }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Baking");
    await page.keyboard.press("Enter");
    await field(page).fill("");
    await page.reload();
    await menu();
    expect(await violationsInBoth(page, "#sidebar")).toEqual([]);
    await page.getByRole("menuitem", { name: "Baking" }).click();
    await results(page).getByRole("link", { name: /Bread/ }).first().waitFor();
    expect(await field(page).inputValue()).toBe("bread");
    await field(page).fill("");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("baking");
    await page.getByRole("option", { name: /Baking/ }).click();
    await results(page).getByRole("link", { name: /Bread/ }).first().waitFor();
    await menu();
    await page.getByRole("menuitem", { name: /Edit saved searches/ }).click();
    await page.getByRole("textbox", { name: "Name of Baking" }).fill("Loaves");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name of Loaves" }).waitFor();
    await page.getByRole("button", { name: "Delete Loaves" }).click();
    await page.getByText("No saved searches").waitFor();
  });
});
