/** The changed files of a session. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importRecords, type SessionRecord, toolRecords, userRecord } from "./setup/session";
import { type Site, serve } from "./setup/site";

const ID = "5e551000-0000-4000-8000-00000000f11e";

/** An edit with the hunk that Claude Code stores. */
function edit(id: string, path: string, start: number, lines: readonly string[]): readonly SessionRecord[] {
  const structuredPatch = [{ oldStart: start, newStart: start, lines }];
  const filePath = `/kitchen/${path}`;
  const input = { file_path: filePath, old_string: "a", new_string: "b" };
  return toolRecords(id, "Edit", input, "The file was updated.", false, { filePath, structuredPatch });
}

function write(id: string, path: string, content: string): readonly SessionRecord[] {
  const filePath = `/kitchen/${path}`;
  const details = { type: "create", filePath, content, structuredPatch: [] };
  return toolRecords(id, "Write", { file_path: filePath, content }, "Created", false, details);
}

const RECORDS: readonly SessionRecord[] = [
  userRecord("Make the oven hotter"),
  ...edit("e1", "src/oven.py", 10, [" def heat():", "-    return 180", "+    return 200", " "]),
  ...edit("e2", "src/oven.py", 10, [" def heat():", "-    return 200", "+    return 240", " "]),
  ...edit("e3", "src/oven.py", 40, [" def cool():", "+    # slowly", "     pass"]),
  ...write("e4", "docs/notes.md", "# Notes\n\nHot.\n"),
  ...write("e6", "recipes/of-the-northern-coast/loaves-for-the-keepers-of-all-lighthouses.md", "# Loaves\n"),
  ...write("e5", "src/table.py", Array.from({ length: 1200 }, (_, n) => `ROW_${n} = ${n}\n`).join("")),
];

describe("the changed files of a session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await importRecords(site, ID, RECORDS);
    await site.seed([
      { thread: { id: "chat", title: "Chat" }, messages: [{ id: "q", role: "user", content: "How tall?" }] },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  const file = (page: Page, name: string) => page.getByRole("article", { name });
  const open = async (hash = `#/t/${ID}?view=files`, options = {}): Promise<Page> => {
    const page = await site.open(hash, options);
    await file(page, "src/oven.py").waitFor();
    return page;
  };
  const lines = (page: Page, name: string, mark: string) =>
    file(page, name).locator(`tr[data-mark="${mark}"] td:last-child`).allInnerTexts();

  it("combines all edits of a file into one diff, with the numbers of the list", async () => {
    const page = await open();
    await file(page, "src/oven.py").getByText("return 240").waitFor();
    expect(await lines(page, "src/oven.py", "-")).toEqual(["    return 180"]);
    expect(await lines(page, "src/oven.py", "+")).toEqual(["    return 240", "    # slowly"]);
    const item = page.getByRole("navigation", { name: "Files" }).getByRole("button", { name: /oven\.py/ });
    expect(await item.innerText()).toMatch(/\+2\s*−1/);
    expect(await file(page, "src/oven.py").locator("header").innerText()).toMatch(/\+2\s*−1/);
    await page.getByRole("list", { name: "Summary" }).getByText("4 files").waitFor();
    await file(page, "docs/notes.md").getByText("new", { exact: true }).waitFor();
  });

  it("colours the lines", async () => {
    const page = await open();
    const keyword = file(page, "src/oven.py").locator("td span", { hasText: /^def$/ }).first();
    await keyword.waitFor();
    const colours = await keyword.evaluate((one) => [
      getComputedStyle(one).color,
      getComputedStyle(one.closest("td") as Element).color,
    ]);
    expect(colours[0]).not.toBe(colours[1]);
  });

  it("leads from a hunk to the calls that made it, and back", async () => {
    const page = await open();
    const links = file(page, "src/oven.py").getByRole("link", { name: /^Edit/ });
    expect(await links.allInnerTexts()).toEqual(["Edit 1 of 3", "Edit 2 of 3", "Edit 3 of 3"]);
    await links.nth(1).click();
    await page.locator('[data-message="msg-e2"][data-highlighted="true"]').waitFor();
    expect(await file(page, "src/oven.py").count()).toBe(0);
    await page.goBack();
    await file(page, "src/oven.py").waitFor();
  });

  it("is toggled with v, and keeps the place in the messages", async () => {
    const page = await site.open(`#/t/${ID}`);
    const messages = page.getByRole("region", { name: "Messages" });
    await page.locator("[data-message]").first().waitFor();
    await page.getByRole("link", { name: "Files 4" }).waitFor();
    await messages.evaluate((one) => {
      one.scrollTop = 120;
    });
    const before = await messages.evaluate((one) => one.scrollTop);
    await page.keyboard.press("v");
    await file(page, "src/oven.py").waitFor();
    expect(page.url()).toContain("view=files");
    expect(await messages.count()).toBe(0);
    await page.keyboard.press("v");
    await messages.waitFor();
    expect(await messages.evaluate((one) => one.scrollTop)).toBe(before);
    await page.evaluate(() => {
      const press = () => window.dispatchEvent(new KeyboardEvent("keydown", { key: "v" }));
      press();
      press(); // before the page has rendered the other view
    });
    expect(page.url()).not.toContain("view=files");
  });

  it("goes from file to file with j and k, and opens at the file in its address", async () => {
    const page = await open();
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.file);
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("src/oven.py");
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("docs/notes.md");
    expect(page.url()).toContain("f=docs%2Fnotes.md");
    await page.keyboard.press("k");
    await expect.poll(focused).toBe("src/oven.py");
    await page.goto("about:blank");
    await page.goto(`${site.address}/#/t/${ID}?view=files&f=src%2Ftable.py`);
    await expect.poll(focused).toBe("src/table.py");
    await file(page, "src/table.py").getByText("ROW_0 = 0", { exact: true }).waitFor();
  });

  it("collapses long files, and shows their lines in steps", async () => {
    const page = await open();
    const table = file(page, "src/table.py");
    const toggle = table.getByRole("button", { name: /table\.py/ });
    expect(await toggle.getAttribute("aria-expanded")).toBe("false");
    await toggle.click();
    await table.getByRole("button", { name: "Show 800 more lines" }).click();
    await table.getByText("ROW_1199 = 1199", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Collapse all files" }).click();
    expect(await page.getByRole("article").locator("table").count()).toBe(0);
  });

  it("says that no file was changed", async () => {
    const page = await site.open("#/t/chat?view=files");
    await page.getByText("No file was changed").waitFor();
  });

  it("cuts the path of a file on a narrow screen, not what is beside it", async () => {
    const page = await open(undefined, { viewport: { width: 390, height: 844 } });
    const head = file(
      page,
      "recipes/of-the-northern-coast/loaves-for-the-keepers-of-all-lighthouses.md",
    ).locator("header");
    await head.getByText("new", { exact: true }).waitFor();
    const gap = await head.evaluate((element) => {
      const [note, counts] = [...element.children].slice(1, 3);
      const range = document.createRange();
      range.selectNodeContents(note as Element);
      return (counts as Element).getBoundingClientRect().left - range.getBoundingClientRect().right;
    });
    expect(gap).toBeGreaterThan(4);
  });

  it("has no accessibility violations in both themes", async () => {
    for (const width of [1440, 1024, 390]) {
      const page = await open(undefined, { viewport: { width, height: 844 } });
      await file(page, "src/oven.py").getByText("return 240").waitFor();
      expect(await violationsInBoth(page, "main"), String(width)).toEqual([]);
    }
  });
});
