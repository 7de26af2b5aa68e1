/** The header of a session, its figures, and the titles of the pages. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { assistantRecord, importRecords, type SessionRecord, toolRecords, userRecord } from "./setup/session";
import { type Site, serve } from "./setup/site";

const ID = "5e551000-0000-4000-8000-00000000f11e";
const LONG_TITLE = `Measure the ${"very ".repeat(40)}old lighthouse`;

const RECORDS: readonly SessionRecord[] = [
  userRecord("Fix the parser"),
  assistantRecord(
    "start",
    { type: "text", text: "I look at it." },
    { input_tokens: 900, output_tokens: 100 },
  ),
  ...toolRecords("r1", "Bash", { command: "pytest -q", description: "Run the tests" }, "1 failed", true),
  ...toolRecords("r2", "Bash", { command: "git status", description: "Show the status" }, "clean"),
  userRecord("And commit it"),
  ...toolRecords(
    "r3",
    "Bash",
    { command: "git commit -m 'Parse zero'", description: "Commit" },
    "[fix/zero 1a2b3c4] Parse zero\n 1 file changed, 1 insertion(+)",
  ),
];

const BUSY = "5e551000-0000-4000-8000-00000000b057";
/** A session with every figure. */
const BUSY_RECORDS: readonly SessionRecord[] = [
  userRecord("Do everything"),
  ...toolRecords("b1", "Write", { file_path: "/srv/lamp.py", content: "lit\n".repeat(1200) }, "written"),
  ...toolRecords("b2", "Bash", { command: "make" }, "no rule", true),
  ...toolRecords("b3", "Bash", { command: "git commit -m Light" }, "[main 1a2b3c4] Light\n 1 file changed"),
  ...toolRecords("b4", "Bash", { command: "gh pr create" }, "https://github.com/srv/lamp/pull/7"),
  ...toolRecords("b5", "Task", { description: "Look", prompt: "Look", subagent_type: "scout" }, "Seen."),
  assistantRecord("end", { type: "text", text: "Done." }, { input_tokens: 900_000, output_tokens: 100 }),
];

describe("the header of a session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await importRecords(site, ID, RECORDS);
    await importRecords(site, BUSY, BUSY_RECORDS);
    await site.seed([
      {
        thread: { id: "chat", title: LONG_TITLE },
        messages: [{ id: "q", role: "user", content: "How tall?" }],
      },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  const open = async (hash = `#/t/${ID}`, options = {}): Promise<Page> => {
    const page = await site.open(hash, options);
    await page.locator("[data-message]").first().waitFor();
    return page;
  };

  it("names every page after what is open", async () => {
    const page = await open();
    await expect.poll(() => page.title()).toBe("Fix the parser · Partita");
    for (const [hash, title] of [
      ["#/", "Home · Partita"],
      ["#/sessions", "Sessions · Partita"],
      ["#/new", "New chat · Partita"],
      ["#/analytics", "Analytics · Partita"],
      ["#/compare", "Compare · Partita"],
      ["#/convert", "Convert · Partita"],
      ["#/settings", "Settings · Partita"],
      ["#/nowhere", "Page not found · Partita"],
      [`#/t/${ID}`, "Fix the parser · Partita"],
    ] as const) {
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await expect.poll(() => page.title(), { message: hash }).toBe(title);
    }
  });

  it("shows the agent, the repository, the branch, the start and the number of messages in the list", async () => {
    const page = await open();
    const header = page.locator("main header").first();
    await header.getByRole("img", { name: "Claude Code" }).waitFor();
    for (const fact of ["kitchen", "fix/zero", "1 Apr 2026, 08:00"]) await header.getByText(fact).waitFor();
    const inList = await page
      .locator(`[data-thread="${ID}"]`)
      .getByTitle(/messages?$/)
      .getAttribute("title");
    await header.getByText(inList ?? "", { exact: true }).waitFor();
  });

  it("shows at most two lines of a long title", async () => {
    const page = await open("#/t/chat");
    const title = page.getByRole("heading", { level: 1 });
    await expect.poll(() => title.getAttribute("title")).toBe(LONG_TITLE.trim());
    const { height } = (await title.boundingBox()) ?? { height: 0 };
    expect(height).toBeLessThan(46);
  });

  it.each([1024, 390])("has visible buttons at %d pixels, with words where there is room", async (width) => {
    const page = await open(undefined, { viewport: { width, height: 844 } });
    for (const name of ["Find", "Replay", "Share", "Resume", "More"]) {
      const button = page.locator("main header").getByRole("button", { name, exact: true });
      const box = await button.boundingBox();
      expect(box?.x, name).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0), name).toBeLessThanOrEqual(width);
      expect(box?.height, name).toBeGreaterThanOrEqual(28);
      if (name !== "More") {
        const word = (await button.locator("span").first().boundingBox())?.width ?? 0;
        expect(word > 10, name).toBe(width === 1024);
      }
    }
  });

  it("replays the turn where the user is", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByRole("article").getByText("Fix the parser").waitFor();
    await page.goBack();
    await page.locator("[data-message]").getByText("And commit it").waitFor();
    await page.keyboard.press("n"); // the second question
    await page.keyboard.press("n");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByRole("article").getByText("And commit it").waitFor();
  });

  it("copies the command that resumes the session in a terminal", async () => {
    const page = await open(undefined, { permissions: ["clipboard-read", "clipboard-write"] });
    const button = page.getByRole("button", { name: "Resume", exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
    const line = `cd /kitchen && claude --resume ${ID}`;
    await page.getByRole("menu").getByText(line).waitFor();
    expect(await page.getByRole("menuitem", { name: "Open the folder" }).getAttribute("href")).toBe(
      "vscode://file/kitchen",
    );
    expect(await page.getByRole("menuitem", { name: "Fork and continue here" }).count()).toBe(1);
    expect(await violationsInBoth(page, "[role=menu]")).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await button.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Copy" }).click();
    await page.getByText("Command copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(line);
  });

  it("says why a chat cannot be resumed in a terminal", async () => {
    const page = await open("#/t/chat");
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    const copy = page.getByRole("menuitem", { name: "Copy" });
    await copy.getByText("not recorded from an agent in a terminal").waitFor();
    expect(await copy.isDisabled()).toBe(true);
    await page.getByRole("menuitem", { name: "Continue here" }).click();
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe("Message");
  });

  it("has no empty line between the head of a message and its content at 900 pixels", async () => {
    const page = await open(undefined, { viewport: { width: 900, height: 800 } });
    const gaps = await page.locator("article").evaluateAll((all) =>
      all.flatMap((article) => {
        const [head, content] = article.children;
        const last = [...(head?.children ?? [])].filter((one) => getComputedStyle(one).opacity !== "0");
        if (!content || !last.length) return [];
        const end = Math.max(...last.map((one) => one.getBoundingClientRect().bottom));
        const first = [...content.children].find((one) => one.getBoundingClientRect().height) ?? content;
        return [first.getBoundingClientRect().top - end];
      }),
    );
    expect(gaps.length).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(16);
  });

  it("shows the figures of the session, of which each leads to its place", async () => {
    const page = await open();
    const figures = page.getByRole("list", { name: "Summary" });
    await figures.getByText("turns").waitFor();
    const texts = (await figures.getByRole("listitem").allInnerTexts()).map((one) =>
      one.replace(/\s+/g, " ").trim(),
    );
    expect(texts).toEqual(expect.arrayContaining(["2 turns", "3 commands", "1 failed", "1 commit"]));
    const failed = figures.getByRole("button", { name: "1 failed" });
    await failed.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: /Shell.*pytest -q/ }).waitFor();
    expect(await violationsInBoth(page, "[role=menu]")).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await failed.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/m=msg-r1&p=/);
    await page.locator("[data-message=msg-r1]").waitFor();
    await figures.getByRole("button", { name: "2 turns" }).click();
    await page.getByRole("menuitem", { name: /And commit it/ }).click();
    await expect.poll(() => page.locator("[data-selected=true]").innerText()).toContain("And commit it");
    await figures.getByRole("button", { name: "1 commit", exact: true }).click();
    await page.getByRole("menuitem", { name: /Parse zero.*1a2b3c4/ }).click();
    await expect.poll(() => page.url()).toMatch(/m=msg-r3/);
    await figures.getByRole("button", { name: /tokens/ }).click();
    await page.getByRole("dialog", { name: "Usage of this session" }).waitFor();
  });

  it("does not move the messages while the figures are loading", async () => {
    const page = await site.open("");
    await page.route(/\/overview/, async (route) => {
      await new Promise((done) => setTimeout(done, 700));
      await route.continue().catch(() => undefined); // the page is closed
    });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/t/${ID}?m=${ID}-0`);
    const messages = page.getByRole("region", { name: "Messages" });
    await page.locator("[data-message]").first().waitFor();
    await page.getByRole("heading", { level: 1, name: "Fix the parser" }).waitFor();
    const before = await messages.boundingBox();
    await page.getByRole("button", { name: "1 failed" }).waitFor();
    expect(await messages.boundingBox()).toEqual(before);
  });

  it("leaves most of a narrow screen to the messages", async () => {
    const page = await open(undefined, { viewport: { width: 390, height: 844 } });
    await page.getByRole("button", { name: "Fork and continue with" }).waitFor();
    const box = await page.getByRole("region", { name: "Messages" }).boundingBox();
    expect((box?.height ?? 0) / 844).toBeGreaterThan(0.55);
  });

  it("scrolls its figures on a narrow screen, not the page", async () => {
    const page = await open(`#/t/${BUSY}`, { viewport: { width: 320, height: 844 } });
    await page.locator("[data-figure=usage]").first().waitFor();
    const widths = await page.evaluate(() =>
      [document.documentElement, document.querySelector("[aria-label=Summary]")].map((it) => it?.scrollWidth),
    );
    expect(widths[0]).toBe(320);
    expect(widths[1]).toBeGreaterThan(320);
  });

  it("has no accessibility violations in both themes", async () => {
    for (const width of [1440, 1024, 390]) {
      const page = await open(undefined, { viewport: { width, height: 844 } });
      expect(await violationsInBoth(page, "main"), String(width)).toEqual([]);
    }
  });
});
