import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { marked } from "./setup/marks";
import { type Site, serve } from "./setup/site";

const call = (id: string, command: string, output: string) => ({
  type: "tool-call",
  id,
  name: "Bash",
  state: "output-available",
  input: { command },
  output: { type: "text", value: output },
});
const FILLER = "Wind, waves and gulls. ".repeat(60);

const MESSAGES = [
  { id: "q1", role: "user", content: [{ type: "text", text: "Where is the lantern?" }] },
  { id: "a1", role: "assistant", content: [{ type: "text", text: FILLER }] },
  {
    id: "a2",
    role: "assistant",
    content: [
      { type: "reasoning", text: "Perhaps the **Lantern** is upstairs." },
      call("c1", "ls tower", "stairs\nold lantern\ngallery"),
      {
        type: "text",
        text: `${FILLER}\n\nThe Lantern is \`upstairs\`: use getLantern(), not another lantern.`,
      },
    ],
  },
  ...Array.from({ length: 12 }, (_, number) => ({
    id: `f${number}`,
    role: number % 2 ? "assistant" : "user",
    content: [{ type: "text", text: `${FILLER} ${number}` }],
  })),
];

const outputOf = (lines: number, at: number) =>
  Array.from({ length: lines }, (_, line) => (line === at ? "the beacon is here" : `line ${line}`)).join(
    "\n",
  );

/** A session in which the word is in text that is cut, that renders only its visible lines, or that is a blob. */
const HIDDEN = [
  {
    id: "h0",
    role: "user",
    content: [{ type: "text", text: `${"Look around.\n\n".repeat(80)}Where is the beacon?` }],
  },
  { id: "h1", role: "assistant", content: [call("d1", "cat short", outputOf(120, 110))] },
  { id: "h2", role: "assistant", content: [call("d2", "cat lines", outputOf(900, 700))] },
  { id: "h3", role: "assistant", content: [call("d3", "cat long", outputOf(20_000, 15_000))] },
  {
    id: "h4",
    role: "assistant",
    content: [
      {
        ...call("d4", "", "Found."),
        name: "Task",
        input: { description: "Look", prompt: "Look for it." },
        children: [
          {
            id: "s1",
            role: "assistant",
            content: [
              { type: "reasoning", text: `${"Perhaps here.\n\n".repeat(60)}The beacon, of course.` },
              call("d5", "cat inner", outputOf(120, 100)),
            ],
          },
        ],
      },
    ],
  },
];

const field = (page: Page) => page.getByRole("textbox", { name: "Find in this session" });
const status = (page: Page) => page.getByRole("search").getByRole("status");
const row = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);

const current = async (page: Page, number: string) => {
  await status(page).getByText(number, { exact: true }).waitFor();
  await expect.poll(async () => (await marked(page, "find-current")).map(({ seen }) => seen)).toEqual([true]);
  return (await marked(page, "find-current")).map(({ text, part }) => [text, part])[0];
};

describe("finding words in a session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      { thread: { id: "t", title: "At the tower" }, messages: MESSAGES },
      { thread: { id: "hidden", title: "Far away" }, messages: HIDDEN },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("goes from word to word, and opens what contains them", async () => {
    const page = await site.open("#/t/t?m=f11");
    await row(page, "f11").waitFor();
    await page.keyboard.press("f");
    await page.waitForFunction(() => document.activeElement?.getAttribute("placeholder") !== null);
    await page.keyboard.type("lantern");
    // From the messages that are visible on: none follows, so the first one.
    expect(await current(page, "1 of 6")).toEqual(["lantern", "q1/0"]);
    await page.keyboard.press("Enter");
    expect(await current(page, "2 of 6")).toEqual(["Lantern", "a2/0"]);
    await page.keyboard.press("Enter");
    expect(await current(page, "3 of 6")).toEqual(["lantern", "a2/1"]);
    await page.keyboard.press("Enter");
    expect(await current(page, "4 of 6")).toEqual(["Lantern", "a2/2"]);
    await page.getByRole("button", { name: "Next match" }).click();
    expect(await current(page, "5 of 6")).toEqual(["Lantern", "a2/2"]);
    expect((await marked(page, "find")).filter(({ part }) => part === "a2/2")).toHaveLength(3);
    await field(page).press("Shift+Enter");
    await field(page).press("Shift+Enter");
    expect(await current(page, "3 of 6")).toEqual(["lantern", "a2/1"]);
    expect(page.url()).toContain("q=lantern");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
  });

  it("can match case, says if there is nothing, and closes with Escape", async () => {
    const page = await site.open("#/t/t");
    await row(page, "f11").waitFor();
    await row(page, "f11").focus();
    await page.keyboard.press("f");
    await field(page).fill("Lantern");
    await status(page).getByText("1 of 6").waitFor();
    await page.getByRole("button", { name: "Match case" }).click();
    await status(page).getByText("1 of 3").waitFor();
    await field(page).fill("lighthouse");
    await status(page).getByText("No results").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(
      await page
        .getByRole("search")
        .filter({ has: page.getByText("Match case") })
        .count(),
    ).toBe(0);
    expect(await field(page).count()).toBe(0);
    expect(await marked(page, "find")).toEqual([]);
    expect(page.url()).not.toContain("q=");
    expect(await page.evaluate(() => document.activeElement?.closest("main, section") !== null)).toBe(true);
  });

  it("is opened by an address with words, at the place in it, without taking the focus", async () => {
    const page = await site.open("#/t/t?m=a2&p=1&q=lantern");
    expect(await current(page, "3 of 6")).toEqual(["lantern", "a2/1"]);
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("INPUT");
    // Another hit in the same session.
    await page.evaluate(() => {
      location.hash = "#/t/t?m=q1&p=0&q=where";
    });
    expect(await current(page, "1 of 1")).toEqual(["Where", "q1/0"]);
  });

  it.each([
    ["a prompt that is cut", "h0", "0"],
    ["an output that is cut", "h1", "0"],
    ["an output with many lines", "h2", "0"],
    ["an output that is loaded in pieces", "h3", "0"],
    ["the reasoning of a sub-agent", "h4", "0.children.0.0"],
    ["an output of a sub-agent", "h4", "0.children.0.1"],
  ])("shows a word in %s", async (_, message, part) => {
    const page = await site.open(`#/t/hidden?m=${message}&p=${part}&q=beacon`);
    await status(page).getByText(/of 6/).waitFor();
    await expect
      .poll(() => marked(page, "find-current"), { timeout: 8000 })
      .toEqual([{ text: "beacon", part: `${message}/${part}`, seen: true, clear: true }]);
  });

  it("is where a search result leads to", async () => {
    const page = await site.open("#/sessions");
    await page.getByRole("searchbox").fill("getLantern");
    const results = page.getByRole("region", { name: "Search results" });
    await results.getByRole("link").filter({ hasText: "upstairs" }).click();
    expect(await current(page, "1 of 1")).toEqual(["getLantern", "a2/2"]);
    await page.getByRole("searchbox").fill("tower");
    await results.getByRole("link").filter({ hasText: "At the" }).click();
    await expect.poll(() => page.url()).toMatch(/#\/t\/t$/);
  });
});
