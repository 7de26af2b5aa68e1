import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const results = (page: Page) => page.getByRole("region", { name: "Search results" });
const field = (page: Page) => page.getByRole("searchbox", { name: "Search sessions" });

const FAILED = {
  type: "tool-call",
  id: "c1",
  name: "measure",
  state: "output-error",
  input: {},
  output: { type: "error-text", value: "no such tank" },
};

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
      {
        thread: { id: "brass", title: "Brass foghorn", agent: "smith", metadata: { tags: ["old"] } },
        messages: [message("b1", "Where is it?")],
      },
      {
        thread: { id: "oil", title: "Oil", metadata: { pinned: true } },
        messages: [
          message("o1", "Put **oil** on the [foghorn](https://oil.example/a)."),
          message("o2", "The `foghorn` is loud."),
          { id: "o3", role: "assistant", content: [FAILED] },
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

  it("shows a mistake in the query as a line", async () => {
    const page = await site.open("#/", { expected: [/400/] });
    await field(page).fill("foghorn before:never");
    await page
      .getByRole("alert")
      .getByText(/never.* is not a time.*2026-03-01/)
      .waitFor();
  });

  it("has the filters of the list", async () => {
    const page = await site.open("#/sessions?q=foghorn");
    await page.getByText("2 sessions, 2 matches").waitFor();
    const found = () => results(page).locator("[data-session]").allInnerTexts();
    for (const [name, count, first] of [
      ["pinned=1", "1 session, 2 matches", /^Oil/],
      ["tag=old", "1 session", /^Brass foghorn/],
      ["errors=1", "1 session, 2 matches", /^Oil/],
      ["tag=old&agent=smith", "1 session", /^Brass foghorn/],
    ] as const) {
      await page.goto(`${site.address}/#/sessions?q=foghorn&${name}`);
      await page.getByText(count, { exact: true }).waitFor();
      await expect.poll(found).toEqual([expect.stringMatching(first)]);
    }
    for (const none of ["running=1", "model=opus", "pinned=1&tag=old"]) {
      await page.goto(`${site.address}/#/sessions?q=foghorn&${none}`);
      await page.getByText("with these filters").waitFor();
    }
    expect(await violationsInBoth(page, "#sidebar")).toEqual([]);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("2 sessions, 2 matches").waitFor();
    expect(new URL(page.url()).hash).toBe("#/sessions?q=foghorn");
    expect(await page.getByText(/ignores/).count()).toBe(0);
  });

  it("is in the address, so that reload, back and a link keep it", async () => {
    const page = await site.open("#/sessions?pinned=1");
    await field(page).click();
    await page.keyboard.type("the  loud & more?");
    for (let n = 0; n < "loud & more?".length + 1; n++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("foghorn"); // in the middle: the cursor stays there
    const text = "the foghorn loud & more?";
    expect(await field(page).inputValue()).toBe(text);
    expect(new URLSearchParams(page.url().split("?")[1]).get("q")).toBe(text);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("search");
    await field(page).fill("foghorn");
    await page.reload();
    await results(page).getByRole("link", { name: /loud/ }).waitFor();
    expect(await field(page).inputValue()).toBe("foghorn");
    const address = page.url();
    await results(page).getByRole("link", { name: /loud/ }).click();
    await page.waitForURL(/#\/t\/oil/);
    await page.reload(); // the list beside the session keeps it, too
    await results(page).getByRole("link", { name: /loud/ }).waitFor();
    await page.goBack();
    await page.waitForURL(address);
    await results(page).getByRole("link", { name: /loud/ }).waitFor();
    expect(await field(page).inputValue()).toBe("foghorn");
    await field(page).press("Escape");
    expect(new URL(page.url()).hash).toBe("#/sessions?pinned=1");
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
