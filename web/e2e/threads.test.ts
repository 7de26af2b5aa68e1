import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { sessionLines } from "./setup/session";
import { python, type Seed, type Site, serve } from "./setup/site";

function call(id: string, name: string, failed = false) {
  const ended = failed
    ? { state: "output-error", errorText: "no such file" }
    : { state: "output-available", output: { type: "text", value: "done" } };
  return { type: "tool-call", id, name, input: { path: "lamp.txt" }, ...ended };
}

function thread(id: string, fields: object, ...answer: object[]): Seed {
  const parts = [{ type: "text", text: `An answer about ${id}.` }, ...answer];
  return {
    thread: { id, ...fields },
    messages: [
      { id: `${id}-1`, role: "user", content: `A question about ${id}` },
      { id: `${id}-2`, role: "assistant", content: { format: 2, parts } },
    ],
  };
}

const SEEDS: readonly Seed[] = [
  thread("tower", { title: "Towers by the sea", agent: "keeper", project: "/home/ada/harbour" }),
  thread(
    "boat",
    { title: "Mend the boat", agent: "keeper", project: "/home/ada/harbour" },
    call("c1", "bash"),
  ),
  thread(
    "lamp",
    { title: "A lamp that fails", agent: "smith", project: "/home/ada/lamps" },
    call("c2", "read", true),
  ),
  {
    thread: { id: "fog", title: "Fog 🌫️ signals", agent: "smith", project: "/home/ada/lamps" },
    messages: [
      { id: "fog-1", role: "user", content: "Where is the horn?" },
      { id: "fog-2", role: "assistant", content: "🌫️🌫️ The brass foghorn hangs beside the northern window." },
    ],
  },
];

const row = (page: Page, name: string | RegExp) =>
  page.getByRole("list", { name: "Sessions", exact: true }).getByRole("link", { name });
const names = (page: Page) =>
  page.getByRole("list", { name: "Sessions", exact: true }).locator("[data-name]").allTextContents();

let site: Site;
let seeded: Promise<void> | undefined;
const seedOnce = () => {
  seeded ??= site.seed(SEEDS);
  return seeded;
};
beforeAll(async () => {
  site = await serve();
});
afterEach(async () => {
  await site.closePages();
  site.check();
});
afterAll(() => site.stop());

describe("an empty list of sessions", () => {
  it("explains how to import sessions, and shows new sessions", async () => {
    const page = await site.open();
    await page.getByText("No sessions to list yet").waitFor();
    await page.getByText("partita import").waitFor();
    await seedOnce();
    await row(page, /Fog/).waitFor();
    await row(page, /Towers/).waitFor();
  });
});

describe("the list of sessions", () => {
  beforeAll(seedOnce);

  it("finds names and messages, marks matches, and opens a message", async () => {
    const page = await site.open();
    await row(page, /Mend the boat/).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("boat");
    const results = page.getByRole("region", { name: "Search results" });
    const named = results.getByRole("link", { name: /Mend the boat\s*2 matches/ });
    await named.waitFor();
    expect(await named.locator("mark").allTextContents()).toEqual(["boat"]);
    await page.keyboard.press("Escape");
    await row(page, /Towers/).waitFor();
    await page.keyboard.type("brass foghorn");
    const hit = results.getByRole("link", { name: /foghorn/ });
    await hit.locator("mark", { hasText: "foghorn" }).waitFor(); // all of the text was searched
    expect(await hit.locator("mark").allTextContents()).toEqual(["brass", "foghorn"]);
    await hit.click();
    await page.waitForURL(/#\/t\/fog\?m=fog-2&p=0&q=brass\+foghorn$/);
  });

  it("shows that there are no results, and clears the search", async () => {
    const page = await site.open();
    await page.getByRole("searchbox").fill("zanzibar");
    await page.getByText("No results").waitFor();
    await page.getByRole("button", { name: "Clear search" }).first().click();
    await row(page, /Towers/).waitFor();
  });

  it("searches with qualifiers and alternatives, and asks for a word", async () => {
    const page = await site.open();
    const field = page.getByRole("searchbox");
    const results = page.getByRole("region", { name: "Search results" });
    await field.fill("tool:bash");
    await results.getByRole("link", { name: /Mend the boat/ }).waitFor();
    expect(await results.getByRole("listitem").count()).toBe(1);
    await field.fill("foghorn OR towers -project:lamps");
    await results.getByRole("link", { name: /Towers by the sea/ }).waitFor();
    await results.getByRole("link", { name: /foghorn/ }).waitFor({ state: "detached" });
    await field.fill("-lamp");
    await page.getByText("Nothing to search for").waitFor();
  });

  it("filters by facets with counts, and keeps filters in the address", async () => {
    const page = await site.open();
    await row(page, /Towers/).waitFor();
    await page.getByRole("button", { name: "Agent" }).click();
    await page.getByRole("menuitemradio", { name: /smith\s*2/ }).click();
    await row(page, /Towers/).waitFor({ state: "detached" });
    expect((await names(page)).sort()).toEqual(["A lamp that fails", "Fog 🌫️ signals"]);
    expect(page.url()).toContain("#/?agent=smith");
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: /Tool/ }).click();
    await page.getByRole("menuitemradio", { name: /read\s*1/ }).click();
    await row(page, /Fog/).waitFor({ state: "detached" });
    await row(page, /A lamp/).click();
    await page.waitForURL(/#\/t\/lamp/);
    await page.getByRole("list", { name: "Active filters" }).getByText("agent: smith").waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await row(page, /Towers/).waitFor();
  });

  it("accepts the filters in links from analytics", async () => {
    const page = await site.open(
      `#/?project=${encodeURIComponent("/home/ada/lamps")}&errors=1&since=2020-01-01`,
    );
    await row(page, /A lamp/).waitFor();
    expect(await names(page)).toEqual(["A lamp that fails"]);
    await page.goto(`${site.address}/#/?ids=boat,fog`);
    await row(page, /Fog/).waitFor();
    expect((await names(page)).sort()).toEqual(["Fog 🌫️ signals", "Mend the boat"]);
    await page.goto(`${site.address}/#/?until=2020-01-01`);
    await page.getByText("No sessions match").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await row(page, /Towers/).waitFor();
  });

  it("is navigated, and its sessions are pinned and renamed, by keyboard", async () => {
    const page = await site.open();
    await row(page, /Towers/).waitFor();
    const before = await names(page);
    await page.keyboard.press("Shift+J");
    await page.keyboard.press("Shift+J");
    await page.waitForFunction(
      (name) =>
        document.activeElement?.querySelector("[data-name]")?.textContent === name &&
        document.activeElement?.matches("a"),
      before[1] ?? "?",
    );
    await page.keyboard.press("Shift+K");
    await page.waitForFunction(
      (name) =>
        document.activeElement?.querySelector("[data-name]")?.textContent === name &&
        document.activeElement?.matches("a"),
      before[0] ?? "?",
    );
    await page.getByRole("button", { name: "Actions for Towers by the sea" }).click();
    await page.getByRole("menuitem", { name: "Pin" }).click();
    await row(page, /Towers by the sea.*pinned/).focus();
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "New name" }).fill("Towers and piers");
    await page.keyboard.press("Enter");
    await row(page, /Towers and piers.*pinned/).waitFor();
    await expect
      .poll(() => site.api<{ title: string; metadata?: object }>("GET", "api/threads/tower"))
      .toMatchObject({
        title: "Towers and piers",
        metadata: { pinned: true },
      });
    await page.reload();
    await row(page, /Towers and piers.*pinned/).waitFor();
    expect((await names(page))[0]).toBe("Towers and piers");
    await page.getByRole("button", { name: "Actions for Towers and piers" }).click();
    await page.getByRole("menuitem", { name: "Unpin" }).click();
    await row(page, /pinned/).waitFor({ state: "detached" });
  });

  it("deletes with undo, and finally when the page is unloaded", async () => {
    await site.seed([thread("gull", { title: "A gull" }), thread("tern", { title: "A tern" })]);
    const page = await site.open();
    await row(page, /A gull/).focus();
    await page.keyboard.press("x"); // a single letter never deletes
    await page.keyboard.press("Delete");
    await row(page, /A gull/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, /A gull/).waitFor();
    await page.getByRole("button", { name: "Actions for A tern" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await row(page, /A tern/).waitFor({ state: "detached" });
    await page.reload();
    await row(page, /A gull/).waitFor();
    await expect.poll(() => site.api("GET", "api/threads/tern").catch(String)).toContain("404");
    await page.reload();
    await row(page, /A gull/).waitFor();
    expect(await row(page, /A tern/).count()).toBe(0);
  });

  it("shows new sessions of other clients, and that they are running", async () => {
    const page = await site.open();
    await row(page, /Mend the boat/).waitFor();
    const message = { id: "q1", role: "user", parts: [{ type: "text", text: "Tell me a long story" }] };
    const going = fetch(new URL("api/chat", site.address), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "story", messages: [message] }),
    });
    await row(page, /Running/).waitFor();
    await site.api("POST", "api/chat/story/stop", {});
    await (await going).text();
    await row(page, /Running/).waitFor({ state: "detached" });
    await site.api("DELETE", "api/threads/story");
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await site.open("#/?errors=1");
    await row(page, /A lamp/).waitFor();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menu").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").fill("lamp");
    await page.getByRole("region", { name: "Search results" }).getByRole("link").first().waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });

  it("scrolls through thousands of sessions with few of them rendered", async () => {
    await python(SEED_MANY, `sqlite:///${site.folder}/store.db`, "2000");
    const page = await site.open();
    await row(page, /Log 0 /).waitFor();
    const scroller = page.getByRole("list", { name: "Sessions", exact: true }).locator("..");
    await expect
      .poll(
        async () => {
          await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
          return row(page, /Log 1999 /).count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
    expect(
      await page.getByRole("list", { name: "Sessions", exact: true }).locator("li").count(),
    ).toBeLessThan(60);
    // New threads are inserted above without moving the visible rows.
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await expect.poll(() => inTheMiddle(page)).toBeTruthy();
    const middle = await inTheMiddle(page);
    const before = await heightOf(page);
    await site.seed([thread("fresh", { title: "Fresh from the sea" })]);
    await expect.poll(() => heightOf(page), { timeout: 10_000 }).toBeGreaterThan(before);
    expect(await inTheMiddle(page)).toBe(middle);
    await scroller.evaluate((element) => element.scrollTo(0, 0));
    await row(page, /Fresh from the sea/).waitFor();
    // The command palette finds all of them by their title, also by the start of a word.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /^Search sessions/ }).fill("log 177");
    await page
      .getByRole("group", { name: "Sessions" })
      .getByRole("option", { name: /Log 1772 / })
      .waitFor();
  });
});

describe("the sessions of agents on this machine", () => {
  const SESSIONS = 8;
  const TURNS = 400; // many, so that the import takes some time
  const idOf = (number: number) => `5e551000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  let site: Site;
  let folder: string;
  const write = (number: number, message: readonly string[]) =>
    writeFileSync(join(folder, `${idOf(number)}.jsonl`), sessionLines(idOf(number), message));
  beforeAll(async () => {
    const elsewhere = [
      "CLAUDE_CONFIG_DIR",
      "CODEX_HOME",
      "GEMINI_CLI_HOME",
      "OPENCODE_DB",
      "XDG_CONFIG_HOME",
    ];
    site = await serve({
      args: ["--import"],
      env: Object.fromEntries(elsewhere.map((name) => [name, ""])),
    });
    folder = join(site.folder, ".claude", "projects", "-kitchen");
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("are imported while the page is open, and followed line by line", async () => {
    const page = await site.open();
    await page.getByText("No sessions to list yet").waitFor();
    await page.evaluate(() => {
      const bars: string[] = []; // the progress bar may disappear quickly
      Object.assign(window, { bars });
      new MutationObserver(() => {
        const bar = document.querySelector('progress[aria-label="Reading sessions"]');
        if (bar) bars.push((bar.previousElementSibling as HTMLElement).innerText);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    mkdirSync(folder, { recursive: true });
    const night = Array.from({ length: 2 * TURNS }, (_, at) => `Word ${at} of a long night.`);
    for (let number = 0; number < SESSIONS; number += 1)
      write(number, [`Bake loaf ${number}`, ...night, `Loaf ${number} is in the oven.`]);
    for (let number = 0; number < SESSIONS; number += 1)
      await row(page, new RegExp(`Bake loaf ${number}`)).waitFor();
    await page.getByRole("progressbar", { name: "Reading sessions" }).waitFor({ state: "detached" });
    const bars = await page.evaluate(() => (window as unknown as { bars: string[] }).bars);
    expect(bars[0]).toMatch(/^Reading sessions: \d of \d files?$/);

    await row(page, /Bake loaf 7/).click();
    await page.getByText("Word 0 of a long night.").waitFor();
    await page.getByRole("main").focus(); // in the list, the key moves to its end
    await page.keyboard.press("End");
    await page.getByText("Loaf 7 is in the oven.").waitFor();
    const more = sessionLines(idOf(7), ["Is it done?", "It is golden."], 2 + 2 * TURNS);
    appendFileSync(join(folder, `${idOf(7)}.jsonl`), more);
    await page.locator('article[data-role="assistant"]').getByText("It is golden.").waitFor();
  });
});

const heightOf = (page: Page) =>
  page
    .getByRole("list", { name: "Sessions", exact: true })
    .evaluate((list) => list.getBoundingClientRect().height);

const inTheMiddle = (page: Page) =>
  page.evaluate(() => {
    const box = document
      .querySelector("[data-threads] ul[aria-label=Sessions]")
      ?.parentElement?.getBoundingClientRect();
    if (!box) return "";
    return document.elementFromPoint(box.left + 60, box.top + box.height / 2)?.closest("a")?.dataset.thread;
  });

const SEED_MANY = `
import asyncio, sys
from datetime import timedelta
from sqlalchemy import update
from partita.store.connection import open_store
from partita.store.schema import threads
from partita.store.threads import rows
from partita.types.threads import Thread

def many(tx, count):
    for number in range(count):
        moment = tx.now - timedelta(hours=1, minutes=number)
        rows.create(tx, Thread(id=f"log-{number}", title=f"Log {number} of the station", updated_at=moment))
    tx.run(update(threads).values(message_count=1))  # threads without messages are hidden

async def main():
    async with open_store(sys.argv[1]) as store:
        await store.write(many, int(sys.argv[2]))

asyncio.run(main())
`;
