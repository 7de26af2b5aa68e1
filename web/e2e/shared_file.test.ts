/** A shared HTML file: its outline beside the messages. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { openFile } from "./setup/file";
import { type Site, serve } from "./setup/site";

const TURNS = 40;
const text = (content: string) => ({ type: "text", text: content });
const message = (id: string, role: string, parts: object[]) => ({ id, role, content: { format: 2, parts } });
const call = (id: string, name: string, input: object, output: object) => ({
  type: "tool-call",
  id,
  name,
  state: output && "output-available",
  input,
  output,
});

const MESSAGES = Array.from({ length: TURNS }, (_, turn) => [
  message(`q${turn}`, "user", [text(`Question ${turn + 1} about the harbour`)]),
  message(`a${turn}`, "assistant", [
    ...(turn === 20
      ? [
          call(
            "edit",
            "Edit",
            { file_path: "/harbour/pier.md", old_string: "wood", new_string: "stone" },
            { type: "text", value: "done" },
          ),
        ]
      : []),
    text(`Answer ${turn + 1}.\n\n${"The tide comes in and the tide goes out again. ".repeat(30)}`),
  ]),
]).flat();

describe("a shared file", () => {
  const folder = mkdtempSync(join(tmpdir(), "partita-file-"));
  const file = join(folder, "harbour.html");
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      { thread: { id: "harbour", title: "The harbour", project: "/harbour" }, messages: MESSAGES },
    ]);
    const response = await fetch(new URL("api/threads/harbour/share", site.address), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ format: "html" }),
    });
    writeFileSync(file, await response.text());
  });
  afterAll(async () => {
    await site.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const outline = (page: Page) => page.getByRole("region", { name: "Outline of the session" });
  /** How far the message is from the top of the messages. */
  const top = (page: Page, id: string) =>
    page.evaluate((place) => {
      const box = document.querySelector("section[aria-label=Conversation]")?.getBoundingClientRect();
      const found = document.querySelector(`[data-place="${place}"]`)?.getBoundingClientRect();
      return Math.round((found?.top ?? Number.NaN) - (box?.top ?? 0));
    }, id);

  it("has a summary whose figures lead to their places", async () => {
    const { page, problems, close } = await openFile(file);
    const summary = page.getByRole("list", { name: "Summary" });
    await summary.getByText("40 turns").waitFor();
    await summary.getByRole("button", { name: /1 file \+1 −1/ }).click();
    await page.getByRole("menuitem", { name: /pier\.md/ }).click();
    await expect
      .poll(() => page.locator('[data-place="a20/0"]').evaluate((one) => one.textContent))
      .toContain("stone");
    expect(problems).toEqual([]);
    await close();
  });

  it("has an outline that leads to each turn and edit, and follows the messages", async () => {
    const { page, requests, problems, close } = await openFile(file);
    const tree = outline(page);
    await tree.getByRole("treeitem", { name: /Question 1 / }).waitFor();
    await tree.getByRole("button", { name: "Edits 1" }).click();
    await tree.getByRole("treeitem", { name: /pier\.md/ }).click();
    const card = page.locator('[data-place="a20/0"]');
    await expect.poll(() => card.evaluate((one) => one.textContent)).toContain("stone");
    const box = await card.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect(box?.y).toBeLessThan(800);
    await tree.getByRole("button", { name: "Questions" }).click();
    await tree.getByRole("treeitem", { name: /Question 24 / }).click();
    await expect.poll(() => top(page, "q23")).toBeLessThan(90);
    expect(await top(page, "q23")).toBeGreaterThanOrEqual(0);
    await expect
      .poll(() => tree.locator("[aria-current=location]").textContent())
      .toContain("Question 24 about");
    await page.getByRole("region", { name: "Conversation" }).hover();
    await page.mouse.wheel(0, -2000);
    await expect
      .poll(() => tree.locator("[aria-current=location]").textContent())
      .not.toContain("Question 24 about");
    await tree.getByRole("button", { name: "Close the outline" }).click();
    expect(await outline(page).count()).toBe(0);
    expect({ requests, problems }).toEqual({ requests: [`file://${file}`], problems: [] });
    await close();
  });

  it("has a head at each turn", async () => {
    const { page, close } = await openFile(file);
    await page.locator("section[aria-busy=false]").waitFor();
    expect(await page.locator("[data-turn]").count()).toBe(TURNS);
    await page.locator("[data-turn]").nth(20).getByText("1 call", { exact: true }).waitFor();
    await close();
  });

  it.each([1440, 1024, 390])("has no accessibility violations at %d px", async (width) => {
    const { page, problems, close } = await openFile(file, { viewport: { width, height: 844 } });
    await page.getByText("Question 1 about").first().waitFor();
    if (width < 1200) {
      expect(await outline(page).count()).toBe(0);
      await page.getByRole("button", { name: "Outline" }).click();
    }
    await outline(page).getByText("Question 2 about").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await page.locator("section[aria-busy=false]").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    if (width < 1200) {
      await page.keyboard.press("Escape");
      expect(await outline(page).count()).toBe(0);
      expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Outline");
    }
    expect(problems).toEqual([]);
    await close();
  });
});
