import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type SeededRow, seedRows } from "./setup/rows";
import { type Site, serve } from "./setup/site";

const LONG =
  "Why does the foghorn stay silent when the keeper turns the brass wheel twice before noon, again?";
const OLD = 800;
const ROWS: readonly SeededRow[] = [
  { id: "now", title: "Wind the clock", agent: "claude-code", project: "/home/ada/lamps", messages: 12 },
  { id: "long", title: LONG, agent: "codex", project: "/home/ada/lamps/.worktrees/red", messages: 3 },
  {
    id: "wheel",
    title: "Turn the wheel",
    agent: "codex",
    metadata: { tags: ["brass", "night shift"], note: "Ask Ada first" },
  },
  { id: "bidi", title: "Read \u202efdp.exe" },
  { id: "pinned", title: "Rules of the tower", days: 90, metadata: { pinned: true } },
  { id: "before", title: "Paint the door", days: 1, messages: 40 },
  ...Array.from({ length: 40 }, (_, at) => ({ id: `old-${at}`, title: `Log ${at}`, days: OLD, messages: 2 })),
];

const list = (page: Page) => page.getByRole("list", { name: "Sessions", exact: true });
const row = (page: Page, name: string | RegExp) => list(page).getByRole("link", { name });
const focused = (page: Page) =>
  page.evaluate(() => (document.activeElement as HTMLElement).dataset.thread ?? null);

describe("the list of sessions", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await seedRows(site, ROWS);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("groups the sessions by time, with the heading of the group at the top", async () => {
    const page = await site.open();
    await row(page, /Wind the clock/).waitFor();
    const month = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });
    const old = month.format(Date.now() - OLD * 86_400_000);
    expect(await list(page).getByRole("heading").allTextContents()).toEqual([
      "Pinned",
      "Today",
      "Yesterday",
      old,
    ]);
    await list(page).evaluate((element) => element.parentElement?.scrollTo(0, 1200));
    await row(page, /Log 20 /).waitFor();
    const top = await list(page).evaluate((element) => {
      const box = element.parentElement?.getBoundingClientRect();
      return box ? document.elementFromPoint(box.left + 30, box.top + 10)?.textContent : null;
    });
    expect(top).toBe(old);
    await page.goto(`${site.address}/#/?sort=messages`);
    await page.waitForFunction(() => !document.querySelector("[data-threads] h3"));
    expect(await list(page).locator("[data-name]").first().textContent()).toBe("Paint the door");
  });

  it("shows rows of known heights with agent, repository, tags and note", async () => {
    const page = await site.open();
    await row(page, /Wind the clock/).waitFor();
    await row(page, /Claude Code.*Wind the clock.*lamps.*12 messages/).waitFor();
    await row(page, /Why does the foghorn.*lamps/)
      .getByTitle(/Folder: .*worktrees\/red/)
      .waitFor();
    await row(page, /Turn the wheel.*note.*tags: brass/)
      .getByTitle("Ask Ada first")
      .waitFor();
    const hidden = row(page, /Read ⟦U\+202E⟧fdp\.exe/);
    await hidden.getByTitle("Read ⟦U+202E⟧fdp.exe").waitFor();
    for (const density of ["comfortable", "compact"]) {
      await page.evaluate((chosen) => {
        document.documentElement.dataset.density = chosen;
        localStorage.setItem("partita.preferences", JSON.stringify({ density: chosen }));
      }, density);
      await page.reload();
      await row(page, /Wind the clock/).waitFor();
      const overflows = await list(page)
        .locator("[data-thread]")
        .evaluateAll((links) =>
          links.filter((link) => link.scrollHeight > link.clientHeight).map((link) => link.textContent),
        );
      expect(overflows).toEqual([]);
    }
    const height = (name: RegExp) => row(page, name).evaluate((link) => link.clientHeight);
    expect((await height(/Why does/)) - (await height(/Wind the clock/))).toBe(18); // a second line
  });

  it("is one stop of the Tab key, and its rows are reached by the arrow keys", async () => {
    const page = await site.open();
    await row(page, /Wind the clock/).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page)).toBe("long");
    await page.keyboard.press("End");
    await expect.poll(() => focused(page)).toBe("old-39");
    await list(page).evaluate((element) => element.parentElement?.scrollTo(0, 0));
    await row(page, /Rules of the tower/).waitFor();
    expect(await focused(page)).toBe("old-39"); // rendered although it is out of sight
    expect(await list(page).locator("[tabindex='0']").count()).toBe(1);
    await page.keyboard.press("Home");
    await expect.poll(() => focused(page)).toBe("pinned");
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await focused(page)).toBe("pinned");
  });

  it("opens the next and the previous session by keys", async () => {
    const names = ["third", "second", "first"]; // the newest is the first one
    await site.seed(
      names.map((id) => ({
        thread: { id, title: `The ${id} lamp` },
        messages: [{ id: `${id}-1`, role: "user", content: "Light it" }],
      })),
    );
    const page = await site.open("#/t/first");
    await list(page).locator('[aria-current="page"]').waitFor();
    for (const [key, id] of [
      ["Shift+J", "second"],
      ["Shift+J", "third"],
      ["Shift+K", "second"],
    ]) {
      await page.getByRole("main").focus(); // not the text field of a session
      await page.keyboard.press(key as string);
      await page.waitForURL(new RegExp(`#/t/${id}$`));
      await page.getByRole("main").getByText("Light it").waitFor();
    }
    await row(page, /The second lamp/).focus();
    await page.keyboard.press("Shift+K");
    await page.waitForURL(/#\/t\/first$/);
    await expect.poll(() => focused(page)).toBe("first");
  });

  it("shows the number of messages that the session has", async () => {
    await site.seed([
      {
        thread: { id: "three", title: "Three messages" },
        messages: ["one", "two", "three"].map((id) => ({ id, role: "user", content: id })),
      },
    ]);
    const page = await site.open("#/t/three");
    await row(page, /Three messages.* 3 messages/).waitFor();
    await page.getByRole("main").getByText("3 messages").first().waitFor();
  });

  it("is sorted and filtered on one line, and everything is in the address", async () => {
    const page = await site.open("#/sessions");
    await row(page, /Wind the clock/).waitFor();
    const menu = async (button: string, item: RegExp) => {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("menu").getByText(item).click();
    };
    const tops = await page
      .getByRole("group", { name: "Order and filters" })
      .getByRole("button")
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
    expect(new Set(tops).size).toBe(1);
    await menu("Sort: Newest", /Most messages/);
    await page.waitForURL(/#\/sessions\?sort=messages$/);
    await expect.poll(() => list(page).locator("[data-name]").first().textContent()).toBe("Paint the door");
    await menu("More", /^Tag/);
    await page.getByRole("menuitemradio", { name: /night shift\s*1/ }).click();
    await row(page, /Turn the wheel/).waitFor();
    await expect.poll(() => list(page).getByRole("link").count()).toBe(1);
    await page.waitForURL(/tag=night\+shift/);
    const chips = page.getByRole("list", { name: "Active filters" });
    await menu("More", /Running/);
    await page.getByText("No sessions match").waitFor();
    await chips.getByRole("button", { name: /running/ }).click();
    await row(page, /Turn the wheel/).waitFor();
    await chips.getByRole("button", { name: "Clear" }).click();
    await row(page, /Wind the clock/).waitFor();
    await page.waitForURL(/#\/sessions\?sort=messages$/);
    await menu("Project", /^lamps/); // with its worktree
    await expect.poll(() => list(page).getByRole("link").count()).toBe(2);
  });
});
