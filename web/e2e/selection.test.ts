import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const NAMES = ["one", "two", "three", "four", "five"]; // the last one is the newest
const list = (page: Page) => page.getByRole("list", { name: "Sessions", exact: true });
const row = (page: Page, name: string) =>
  list(page).getByRole("link", { name: new RegExp(`Lamp ${name}\\b`) });
const bar = (page: Page) => page.getByRole("toolbar", { name: "Selected sessions" });
const item = (page: Page, name: string | RegExp) => page.getByRole("menuitem", { name });

describe("sessions in the list", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed(
      NAMES.map((name) => ({
        thread: { id: name, title: `Lamp ${name}`, agent: "keeper" },
        messages: [{ id: `${name}-1`, role: "user", content: `Oil for **lamp** ${name}\n\nplease` }],
      })),
    );
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("are selected by mouse and by keys", async () => {
    const page = await site.open("#/t/five");
    await row(page, "four").click({ modifiers: ["Control"] });
    await bar(page).getByText("1 selected").waitFor();
    await row(page, "two").click({ modifiers: ["Shift"] });
    await bar(page).getByText("3 selected").waitFor();
    expect(page.url()).toContain("#/t/five");
    await page.getByRole("checkbox", { name: "Select Lamp three" }).click();
    await bar(page).getByText("2 selected").waitFor();
    expect(await violationsInBoth(page, "#sidebar")).toEqual([]);
    await row(page, "two").focus();
    await page.keyboard.press("Escape");
    await bar(page).waitFor({ state: "detached" });
    await page.keyboard.press("Control+a");
    await bar(page).getByText("5 selected").waitFor();
    await bar(page).getByRole("button", { name: "Clear selection" }).click();
    await bar(page).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(() => document.activeElement?.matches("[data-thread]"))).toBe(true);
    await row(page, "two").focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await bar(page).getByText("2 selected").waitFor();
  });

  it("are tagged together, with suggestions, and found by their tag", async () => {
    const page = await site.open();
    await row(page, "four").click({ modifiers: ["Control"] });
    await row(page, "three").click({ modifiers: ["Control"] });
    await bar(page).getByRole("button", { name: "Tags" }).click();
    const dialog = page.getByRole("dialog");
    await page.getByRole("textbox", { name: "New tag" }).fill("brass, polished");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: /brass polished.*remove/ }).waitFor();
    expect(await violationsInBoth(page, "dialog")).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await list(page).getByText("brass polished").nth(1).waitFor();
    await expect
      .poll(() => site.api("GET", "api/threads/three"))
      .toMatchObject({ metadata: { tags: ["brass polished"] } });
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Actions for Lamp two" }).click();
    await item(page, /Tags/).click();
    await dialog.getByRole("button", { name: "brass polished" }).click();
    await dialog.getByRole("button", { name: /brass polished.*remove/ }).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await expect
      .poll(() => site.api("GET", "api/threads/two"))
      .toMatchObject({ metadata: { tags: ["brass polished"] } });
    await page.goto(`${site.address}/#/?tag=brass+polished`);
    await row(page, "two").waitFor();
    await expect.poll(() => list(page).getByRole("link").count()).toBe(3);
  });

  it("have a note", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Actions for Lamp one" }).click();
    await item(page, /Add a note/).click();
    await page.getByRole("textbox", { name: "Note" }).fill("Ask the keeper\nabout oil");
    await page.keyboard.press("Control+Enter");
    await row(page, "one").getByTitle("Ask the keeper").waitFor();
    await expect
      .poll(() => site.api("GET", "api/threads/one"))
      .toMatchObject({ metadata: { note: "Ask the keeper\nabout oil" } });
    await page.getByRole("button", { name: "Actions for Lamp one" }).click();
    await item(page, /Edit the note/).click();
    await page.getByRole("textbox", { name: "Note" }).fill(" ");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await row(page, "one").getByTitle("Ask the keeper").waitFor({ state: "detached" });
  });

  it("are tagged and have a note from the menu of the open session, too", async () => {
    const page = await site.open("#/t/one");
    await page.getByRole("main").getByText("Oil for").waitFor();
    const more = page.getByRole("main").getByRole("button", { name: "More", exact: true });
    await more.click();
    await item(page, /^Tags/).click();
    await page.getByRole("textbox", { name: "New tag" }).fill("harbour");
    await page.keyboard.press("Enter");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /harbour.*remove/ })
      .waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await row(page, "one").getByText("harbour").waitFor();
    await more.click();
    await item(page, /^Note/).click();
    await page.getByRole("textbox", { name: "Note" }).fill("Dark nights");
    await page.keyboard.press("Control+Enter");
    await row(page, "one").getByTitle("Dark nights").waitFor();
  });

  it("are pinned and exported together", async () => {
    const page = await site.open();
    await row(page, "one").click({ modifiers: ["Control"] });
    await row(page, "two").click({ modifiers: ["Control"] });
    await bar(page).getByRole("button", { name: "Pin", exact: true }).click();
    await list(page).getByRole("heading", { name: "Pinned" }).waitFor();
    await expect.poll(() => site.api("GET", "api/threads/one")).toMatchObject({ metadata: { pinned: true } });
    await bar(page).getByRole("button", { name: "Export" }).click();
    const download = page.waitForEvent("download");
    await item(page, "Markdown").click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("2-sessions.md");
    const text = readFileSync(await file.path(), "utf8");
    expect(text).toContain("Lamp one");
    expect(text).toContain("Lamp two");
    await bar(page).getByRole("button", { name: "Unpin" }).click();
    await list(page).getByRole("heading", { name: "Pinned" }).waitFor({ state: "detached" });
  });

  it("are deleted together with undo", async () => {
    const page = await site.open();
    await row(page, "four").click({ modifiers: ["Control"] });
    await row(page, "five").click({ modifiers: ["Control"] });
    await bar(page).getByRole("button", { name: "Delete" }).click();
    await row(page, "four").waitFor({ state: "detached" });
    await page.getByRole("status").getByText("Deleted 2 sessions").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, "four").waitFor();
    await row(page, "five").waitFor();
  });
});
