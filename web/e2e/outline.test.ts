import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importBreadSession } from "./setup/session";
import { type Site, serve } from "./setup/site";

const FILLER = "Wind, waves and gulls. ".repeat(60);

const call = (id: string, name: string, input: object, more: object = {}) => ({
  type: "tool-call",
  id,
  name,
  state: "output-available",
  input,
  output: { type: "text", value: "ok" },
  ...more,
});
const FAILED = { state: "output-error", errorText: "No oil left" };

const edit = (id: string, path: string) =>
  call(id, "Edit", { file_path: path, old_string: "dark", new_string: "bright\nlight" });
const text = (value: string) => ({ type: "text", text: value });
const message = (id: string, role: string, ...content: readonly object[]) => ({ id, role, content });

const MESSAGES = [
  message("q1", "user", text("Where is the lantern?")),
  message("a1", "assistant", call("c1", "Bash", { command: "ls tower" }), text(FILLER)),
  message("a2", "assistant", call("c2", "Bash", { command: "light it" }, FAILED), text(FILLER)),
  message("q2", "user", text("Then clean the glass and light it again, please.")),
  message("a3", "assistant", edit("c3", "/tower/glass.py"), text(FILLER)),
  message(
    "a4",
    "assistant",
    call(
      "c4",
      "Task",
      { description: "Look for oil", prompt: "Look for oil in the cellar." },
      { children: [message("s1", "assistant", edit("c5", "/cellar/oil.py"), text("Found some."))] },
    ),
    text(FILLER),
  ),
  message("q3", "user", text("Is it bright now?")),
  message("a5", "assistant", call("c6", "Bash", { command: "look" }, FAILED), text(FILLER)),
  message("a6", "assistant", text(`${FILLER} It is bright.`)),
];
const LONG = Array.from({ length: 1000 }, (_, turn) => [
  message(`q${turn}`, "user", text(`Question ${turn}`)),
  message(`r${turn}`, "assistant", edit(`e${turn}`, `/stairs/${turn}.py`), text(FILLER)),
]).flat();

const WIDE = { viewport: { width: 1440, height: 900 } };
const tree = (page: Page) => page.getByRole("tree", { name: "Outline" });
const lines = (page: Page) => tree(page).getByRole("treeitem");
const toggle = (page: Page) => page.getByRole("button", { name: "Outline", exact: true });
const row = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);
const chip = (page: Page, name: RegExp) =>
  page.getByRole("group", { name: "Show in the outline" }).getByRole("button", { name });

/** The text of the line of the current place. */
const current = (page: Page) => tree(page).locator("[aria-current]").innerText();

/** Whether an element is in the visible part of the messages. */
const isSeen = (page: Page, selector: string) =>
  page.evaluate((which) => {
    const area = document.querySelector("section[aria-label=Messages]")?.getBoundingClientRect();
    const box = document.querySelector(which)?.getBoundingClientRect();
    return area !== undefined && box !== undefined && box.top < area.bottom - 20 && box.bottom > area.top + 4;
  }, selector);

describe("the outline of a session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      { thread: { id: "t", title: "At the tower", project: "/tower" }, messages: MESSAGES },
      { thread: { id: "short", title: "One question" }, messages: MESSAGES.slice(0, 3) },
      { thread: { id: "long", title: "All the stairs" }, messages: LONG },
    ]);
    await importBreadSession(site, { session: "bread", degrees: 220, last: "Done.", thinks: false });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("lists the turns and what happened in them, and goes to each place", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await lines(page).first().waitFor();
    expect(await lines(page).filter({ hasText: "Where is the lantern?" }).getAttribute("aria-expanded")).toBe(
      "true",
    );
    expect((await lines(page).allInnerTexts()).map((one) => one.split("\n").join(" "))).toEqual([
      expect.stringContaining("Where is the lantern?"),
      expect.stringContaining("light it"),
      expect.stringContaining("Then clean the glass"),
      expect.stringMatching(/glass\.py \+2 −1/),
      expect.stringContaining("Look for oil"),
      expect.stringMatching(/oil\.py \/cellar \+2 −1/),
      expect.stringContaining("Is it bright now?"),
      expect.stringContaining("look"),
    ]);
    await expect.poll(() => current(page)).toContain("Where is the lantern?");
    await lines(page).filter({ hasText: "oil.py" }).click();
    await expect.poll(() => isSeen(page, '[id="part-a4-0.children.0.0"]')).toBe(true);
    expect(page.url()).toContain("m=a4&p=0.children.0.0");
    await lines(page).filter({ hasText: "Is it bright now?" }).click();
    await expect.poll(() => isSeen(page, '[data-message="q3"]')).toBe(true);
    await expect.poll(() => current(page)).toContain("Is it bright now?");
    expect(await violationsInBoth(page)).toEqual([]);
  });

  it("marks the place at the top while the messages scroll", async () => {
    const page = await site.open("#/t/long?m=q0", WIDE);
    await lines(page).filter({ hasText: "Question 0" }).waitFor();
    await expect.poll(() => current(page)).toContain("Question 0");
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, 200_000);
    await expect.poll(() => current(page)).not.toContain("Question 0\n");
    await expect.poll(() => tree(page).locator("[aria-current]").isVisible()).toBe(true);
    const box = await tree(page).locator("[aria-current]").boundingBox();
    expect(box?.y).toBeLessThan(900);
    expect(await lines(page).count()).toBeLessThan(60);
  });

  it("filters by kind", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await chip(page, /^Errors ?2$/).click();
    expect(await lines(page).count()).toBe(4);
    await chip(page, /^Edits ?2$/).click();
    await lines(page).filter({ hasText: "glass.py" }).waitFor();
    expect(await lines(page).count()).toBe(3);
    await chip(page, /^Sub-agents ?1$/).click();
    await lines(page).filter({ hasText: "Look for oil" }).waitFor();
    await chip(page, /^Questions ?3$/).click();
    await expect.poll(() => lines(page).count()).toBe(3);
  });

  it("is used with the keyboard", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await lines(page).first().focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => lines(page).count()).toBe(7);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toContain("Then clean the glass");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    await expect.poll(focused).toContain("look");
    expect(await tree(page).locator("[tabindex='0']").count()).toBe(1);
    await page.keyboard.press("Enter");
    await expect.poll(() => isSeen(page, '[id="part-a5-0"]')).toBe(true);
  });

  it("is remembered, and closed at first in a short session", async () => {
    const page = await site.open("#/t/short", WIDE);
    await row(page, "a2").waitFor();
    expect(await tree(page).count()).toBe(0);
    await toggle(page).click();
    await tree(page).waitFor();
    await page.reload();
    await tree(page).waitFor();
    await page.getByRole("button", { name: "Close the outline" }).click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Outline");
    await page.goto(`${site.address}/#/t/t`);
    await row(page, "a6").waitFor();
    expect(await tree(page).count()).toBe(0);
  });

  it.each([1024, 390])("lies over the messages at %i pixels, and closes when it is left", async (width) => {
    const page = await site.open("#/t/t?m=q1", { viewport: { width, height: 844 } });
    await row(page, "q1").waitFor();
    expect(await tree(page).count()).toBe(0);
    await toggle(page).click();
    await lines(page).first().waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await tree(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Outline");
    await toggle(page).click();
    await lines(page).first().waitFor();
    await row(page, "q1").click({ position: { x: 5, y: 5 }, force: true });
    await expect.poll(() => tree(page).count()).toBe(0);
    await toggle(page).click();
    await lines(page).filter({ hasText: "Is it bright now?" }).click();
    await expect.poll(() => isSeen(page, '[data-message="q3"]')).toBe(true);
    expect(await tree(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.closest("[data-message]") !== null)).toBe(true);
  });

  it("goes to errors, edits, sub-agents and questions by keys, and says which one it is", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await row(page, "q1").waitFor();
    await lines(page).first().waitFor();
    const press = async (key: string, said: string) => {
      await page.keyboard.press(key);
      await expect.poll(() => page.getByRole("status").filter({ hasText: said }).count()).toBe(1);
    };
    const openCard = (place: string) =>
      page.locator(`[id="part-${place}"] [data-tool-kind] > div > button[aria-expanded=true]`).first();
    await press("e", "Error 1 of 2");
    await openCard("a2-0").waitFor();
    expect(await isSeen(page, '[id="part-a2-0"]')).toBe(true);
    await press("e", "Error 2 of 2");
    await expect.poll(() => isSeen(page, '[id="part-a5-0"]')).toBe(true);
    await press("e", "No more errors");
    await press("Shift+E", "Error 1 of 2");
    await press("Shift+E", "No earlier errors");
    await press("d", "Edit 1 of 2");
    await press("d", "Edit 2 of 2");
    await openCard("a4-0.children.0.0").waitFor();
    await press("Shift+D", "Edit 1 of 2");
    await press("a", "Sub-agent 1 of 1");
    await openCard("a4-0").waitFor();
    await press("a", "No more sub-agents");
    await press("n", "Question 3 of 3");
    await press("p", "Question 2 of 3");
    await expect.poll(() => isSeen(page, '[data-message="q2"]')).toBe(true);
    // After a scroll it goes on from the messages that are visible.
    await page.locator("section[aria-label=Messages]").hover();
    await page.mouse.wheel(0, -100_000);
    await expect.poll(() => current(page)).toContain("Where is the lantern?");
    await press("n", "Question 2 of 3");
  });

  it("has a map of the messages that scrolls them", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await lines(page).first().waitFor();
    const map = page.locator("[aria-hidden=true][title*='Click or drag']");
    const shapes = (kind: string) =>
      map
        .locator(`path[data-kind=${kind}]`)
        .evaluate((one) => (one.getAttribute("d")?.match(/M/g) ?? []).length);
    await expect.poll(() => shapes("question")).toBe(3);
    expect(await Promise.all(["error", "edit", "agent", "match"].map(shapes))).toEqual([2, 2, 1, 0]);
    const box = await map.boundingBox();
    if (!box) throw new Error("The map is not visible");
    await page.mouse.move(box.x + 9, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 9, box.y + box.height, { steps: 3 });
    await page.mouse.up();
    await expect.poll(() => isSeen(page, '[data-message="a6"]')).toBe(true);
    await expect.poll(() => current(page)).toContain("look");
    await page.keyboard.press("f");
    await page.keyboard.type("gulls");
    await expect.poll(() => shapes("match")).toBeGreaterThan(3);
    // A click on a mark goes to its place.
    await page.keyboard.press("Escape");
    const mark = await map.locator("path[data-kind=agent]").boundingBox();
    await page.mouse.click((mark?.x ?? 0) + 2, (mark?.y ?? 0) + 2);
    await expect.poll(() => isSeen(page, '[id="part-a4-0"]')).toBe(true);
    expect(page.url()).toContain("m=a4&p=0");
  });

  it("shows a turn on a time axis", async () => {
    const page = await site.open("#/t/bread", WIDE);
    await row(page, "bread-0").or(page.getByText("Bake bread").first()).first().waitFor();
    await toggle(page).click();
    await lines(page).first().hover();
    await page.getByRole("button", { name: "Timeline of the turn" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Timeline: Bake bread" });
    const rows = dialog.getByRole("listitem").getByRole("button");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(2);
    expect(await rows.first().innerText()).toContain("Oven");
    expect(await rows.first().locator("[data-kind=call]").count()).toBe(1);
    expect(await rows.first().locator("[data-kind=model]").count()).toBe(1);
    expect(await rows.last().innerText()).toContain("Response");
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page, "dialog")).toEqual([]);
      expect(await dialog.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    }
    await page.setViewportSize(WIDE.viewport);
    await rows.first().click();
    expect(await dialog.count()).toBe(0);
    await expect.poll(() => page.url()).toContain("p=");
    await page.locator("[data-tool-kind] button[aria-expanded=true]").first().waitFor();
  });

  it("lists the calls of a turn whose times are unknown, and opens it with the keyboard", async () => {
    const page = await site.open("#/t/t?m=q1", WIDE);
    await lines(page).first().focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Timeline: Where is the lantern?" });
    const rows = dialog.getByRole("listitem").getByRole("button");
    await rows.first().waitFor();
    expect(await rows.filter({ hasText: "Failed" }).count()).toBe(1);
    expect(await rows.locator("[data-kind=call]").count()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await dialog.count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Timeline of the turn",
    );
    await page.getByRole("button", { name: "Timeline of turn 1" }).click();
    await rows.first().waitFor();
  });
});
