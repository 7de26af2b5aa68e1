import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TimelineEvent } from "../src/api/runs";
import type { AssistantMessage } from "../src/partita.gen";
import { RunHistory } from "../src/replay/runHistory";
import { violations, violationsInBoth } from "./setup/axe";
import { rendering } from "./setup/rendering";
import { importLines } from "./setup/session";
import { python, type Site, serve } from "./setup/site";

interface Part {
  readonly type: string;
  readonly text?: string;
}

/** A text without Markdown characters. */
const plainText = (text: string) => text.replace(/[*`_]/g, "").replace(/\s+/g, " ").trim();

const SESSION = "5e551000-0000-4000-8000-00000000abcd";
const QUESTION = "What is the weather in Oslo?";

/** Sends a message to the demo agent. Returns the run. */
async function ask(site: Site, thread: string, text = QUESTION): Promise<string> {
  const message = { id: `${thread}-u`, role: "user", parts: [{ type: "text", text }] };
  const response = await fetch(new URL("api/chat", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: thread, messages: [message] }),
  });
  await response.text();
  return (await runOf(site, thread)) ?? "";
}

/** The last run of a session. */
async function runOf(site: Site, thread: string): Promise<string | undefined> {
  const { items } = await site.api<{ items: { id: string; threadId: string }[] }>("GET", "api/runs");
  return items.find((run) => run.threadId === thread)?.id;
}

async function importSession(site: Site, session = SESSION, body = log()): Promise<string> {
  await importLines(site, body);
  return encodeURIComponent((await runOf(site, session)) ?? "");
}

const line = (number: number, minute: number, type: string, message: object, session = SESSION) =>
  JSON.stringify({
    parentUuid: number ? `u-${number - 1}` : null,
    isSidechain: false,
    type,
    uuid: `u-${number}`,
    timestamp: `2026-04-01T08:${String(minute).padStart(2, "0")}:00.000Z`,
    sessionId: session,
    cwd: "/kitchen",
    version: "2.1.50",
    message,
  });

const answer = (id: string, ...content: object[]) => ({
  id,
  type: "message",
  role: "assistant",
  model: "claude-baker",
  content,
  usage: { input_tokens: 3, output_tokens: 10 },
});

const MANY = "5e551000-0000-4000-8000-00000000beef";

/** A session with many messages. */
function longSession(): string {
  const loaves = Array.from({ length: 200 }, (_, index) =>
    line(
      index + 1,
      1,
      "assistant",
      answer(`m${index}`, { type: "text", text: `Loaf ${index + 1} is done.` }),
      MANY,
    ),
  );
  return [line(0, 0, "user", { role: "user", content: "Bake" }, MANY), ...loaves, ""].join("\n");
}

/** A session of Claude Code, with five minutes of silence in it. */
function log(): string {
  return `${[
    line(0, 0, "user", { role: "user", content: "Bake bread" }),
    line(1, 1, "assistant", answer("m1", { type: "text", text: "I knead the dough first." })),
    line(
      2,
      1,
      "assistant",
      answer("m1", { type: "tool_use", id: "c1", name: "Oven", input: { degrees: 230 } }),
    ),
    line(3, 6, "user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: "it is hot" }],
    }),
    line(4, 7, "assistant", answer("m2", { type: "text", text: "The bread is done, and it smells good." })),
  ].join("\n")}\n`;
}

const slider = (page: Page) => page.getByRole("slider", { name: "Position in the run" });
const valueText = (page: Page) => slider(page).getAttribute("aria-valuetext");
const messages = (page: Page) => page.getByRole("region", { name: "Messages at this position" });

async function waitForPosition(page: Page, position: number): Promise<void> {
  await page.locator(`[data-at="${position}"]`).waitFor();
}

describe("a replay", () => {
  let site: Site;
  let run: string;
  let items: readonly TimelineEvent[];
  const runs: Record<string, string> = {};
  beforeAll(async () => {
    site = await serve();
    run = await ask(site, "weather");
    runs.weather = run;
    runs.postcard = await ask(site, "postcard", "Send a postcard to Ada.");
    runs.imported = await importSession(site);
    ({ items } = await site.api<{ items: TimelineEvent[] }>("GET", `api/runs/${run}/timeline`));
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("shows at any position the messages that the server returns for it", async () => {
    const page = await site.open(`#/run/${run}?at=1`);
    await waitForPosition(page, 1);
    const positions = [0.1, 0.3, 0.45, 0.55, 0.7, 0.85, 1].map((share) => Math.round(share * items.length));
    for (const position of [...positions, ...positions.toReversed().slice(1, 4)]) {
      const seq = items[position - 1]?.seq ?? 0;
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/run/${run}?at=${seq}`);
      await waitForPosition(page, position);
      const moment = await site.api<{ messages: { content: { parts: Part[] } }[] }>(
        "GET",
        `api/runs/${run}/at?seq=${seq}`,
      );
      const parts = moment.messages.flatMap((message) => message.content.parts);
      const expected = parts.filter((part) => part.type === "text").map((part) => plainText(part.text ?? ""));
      const texts = messages(page).locator('[data-part="text"]');
      await expect
        .poll(async () => (await texts.allInnerTexts()).map(plainText))
        .toEqual([plainText(QUESTION), ...expected]);
      const calls = parts.filter((part) => part.type === "tool-call").length;
      expect(await messages(page).locator('[data-part="tool-call"]').count()).toBe(calls);
    }
  });

  it.each(["weather", "postcard", "imported"])(
    "builds the same messages as the server from every event: %s",
    async (name) => {
      const timeline = await site.api<{ items: TimelineEvent[] }>(
        "GET",
        `api/runs/${runs[name]}/timeline?limit=5000`,
      );
      const at = (seq: number) =>
        site.api<{ messages: AssistantMessage[] }>(
          "GET",
          `api/runs/${runs[name]}/at?seq=${seq}&internal=true`,
        );
      const first = (await at(0)).messages.at(-1);
      if (!first) throw new Error("no first message");
      const history = new RunHistory(timeline.items, first, decodeURIComponent(runs[name] ?? ""));
      for (const [index, { seq }] of timeline.items.entries()) {
        expect(JSON.parse(JSON.stringify(history.at(index + 1)))).toEqual((await at(seq)).messages);
      }
    },
  );

  it("shows the chunk and the raw bytes at a position", async () => {
    const withBytes = items.filter((item) => item.raw !== undefined && item.chunk);
    const chosen = [withBytes[2], withBytes.at(-2)].filter((item) => item !== undefined);
    const page = await site.open(`#/run/${run}?at=1`);
    for (const item of chosen) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/run/${run}?at=${item.seq}`);
      const logged = await site.api<{ items: { raw: string; chunk: unknown }[] }>(
        "GET",
        `api/runs/${run}/log?after=${item.seq - 1}&limit=1`,
      );
      await page.locator(`[data-seq="${item.seq}"]`).waitFor();
      expect(JSON.parse(await page.locator("[data-chunk]").innerText())).toEqual(logged.items[0]?.chunk);
      await expect
        .poll(async () => (await page.locator("[data-raw]").textContent())?.trim())
        .toBe(logged.items[0]?.raw.trim());
    }
    await page.getByRole("listbox").getByRole("option", { selected: true }).waitFor();
  });

  it("is navigated by keyboard, by event and by part", async () => {
    const page = await site.open(`#/run/${run}`);
    await slider(page).focus();
    expect(await valueText(page)).toMatch(/^0\.0 s of \d\.\d s, event 0 of \d+$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await waitForPosition(page, 2);
    await page.keyboard.press("ArrowLeft");
    await waitForPosition(page, 1);
    const begins = items.flatMap((item, index) =>
      /^(?:text-start|reasoning-start|tool-input-start)$/.test(String(item.chunk?.type)) ? [index + 1] : [],
    );
    for (const position of begins) {
      await page.keyboard.press("Shift+ArrowRight");
      await waitForPosition(page, position);
    }
    await page.keyboard.press("Shift+ArrowLeft");
    await waitForPosition(page, begins.at(-2) ?? 0);
    await page.keyboard.press("End");
    await waitForPosition(page, items.length);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/run/${run}?at=${items.at(-1)?.seq}`);
    await page.keyboard.press("Home");
    await waitForPosition(page, 0);
    await page.getByText("The agent has not sent anything yet.").waitFor();
  });

  it("plays at a speed, and the space bar pauses it", async () => {
    const page = await site.open(`#/run/${run}`);
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    expect(await page.getByLabel("Shorten pauses").isChecked()).toBe(true);
    await page.getByLabel("Speed").selectOption("0.25");
    await page.locator("#main").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await expect
      .poll(async () => Number(/event (\d+)/.exec((await valueText(page)) ?? "")?.[1]))
      .toBeGreaterThan(3);
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const stood = await valueText(page);
    expect(Number(/event (\d+)/.exec(stood ?? "")?.[1])).toBeLessThan(items.length);
    await page.keyboard.press(">");
    await page.keyboard.press(">");
    expect(await page.getByLabel("Speed").inputValue()).toBe("1");
    await page.getByLabel("Speed").selectOption("32");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await waitForPosition(page, items.length);
    await page.getByRole("button", { name: "Play", exact: true }).waitFor(); // stopped at the end
    await messages(page).getByText("What is the weather in Oslo?").waitFor();
  });

  it("replays an imported run from its question on, with shortened pauses", async () => {
    const page = await site.open(`#/run/${runs.imported}`);
    await page.getByText("Imported run: replayed from its messages").waitFor();
    expect(await valueText(page)).toMatch(/of 7 min \d s, event 0 of/);
    await messages(page).getByText("Bake bread").waitFor();
    await page.getByText("The agent has not sent anything yet.").waitFor();
    expect(await page.getByLabel("Shorten pauses").isChecked()).toBe(true);
    await page.getByText(/\d pauses shortened/).waitFor();
    await page.getByLabel("Longest pause in seconds").selectOption("0.5");
    await page.getByLabel("Speed").selectOption("32");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await messages(page).getByText("The bread is done, and it smells good.").waitFor();
    expect(await page.locator("[data-raw]").textContent()).toContain("smells good");
    await page.locator("#main").focus();
    await page.keyboard.press("s");
    await page.getByText(/pauses? shortened/).waitFor({ state: "detached" });
  });

  it.each([1024, 390])(
    "opens in the middle of a run without moving what is displayed, at %d px",
    async (width) => {
      const page = await site.open(`#/run/${runs.imported}?at=40`, { viewport: { width, height: 800 } });
      await messages(page).getByText("Bake bread").waitFor();
      await page.waitForTimeout(300);
      expect((await rendering(page)).shift).toBeLessThan(0.02);
    },
  );

  it("shows the duration of a call after it has ended", async () => {
    const called = items.findIndex((item) => item.chunk?.type === "tool-input-available") + 1;
    const page = await site.open(`#/run/${run}?at=${items[called - 1]?.seq}`);
    await waitForPosition(page, called);
    const card = messages(page).locator('[data-part="tool-call"]');
    await card.waitFor();
    expect(await card.innerText()).not.toMatch(/\d m?s/);
    await slider(page).focus();
    await page.keyboard.press("End");
    await expect.poll(() => card.innerText()).toMatch(/\d m?s/);
  });

  it("renders only visible messages of a long run", async () => {
    const many = await importSession(site, MANY, longSession());
    const page = await site.open(`#/run/${many}`);
    await slider(page).focus();
    await page.keyboard.press("End");
    await messages(page).getByText("Loaf 200 is done.").waitFor();
    expect(await messages(page).locator("article").count()).toBeLessThan(60);
    await messages(page).hover();
    await page.mouse.wheel(0, -100_000);
    await messages(page).getByText("Loaf 1 is done.").waitFor();
  });

  it("follows an active run until it is stopped", async () => {
    const response = ask(site, "story", "Tell me a long story.");
    await expect.poll(() => runOf(site, "story")).toBeTruthy();
    const story = await runOf(site, "story");
    const page = await site.open(`#/run/${story}`);
    await page.getByText("running", { exact: true }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("button", { name: "Play", exact: true }).click();
    const position = async () =>
      Number(/event ([\d,]+)/.exec((await valueText(page)) ?? "")?.[1]?.replace(",", ""));
    const before = await position();
    await expect.poll(position).toBeGreaterThan(before + 5);
    await site.api("POST", `api/runs/${story}/stop`);
    await response;
    await page.getByText("cancelled", { exact: true }).waitFor();
    const { total } = await site.api<{ total: number }>("GET", `api/runs/${story}/timeline?limit=1`);
    await expect.poll(() => valueText(page)).toContain(`of ${total.toLocaleString("en")}`);
  });

  it("shows an error for an unknown run", async () => {
    const page = await site.open("#/run/nonesuch", { expected: [/404/] });
    await page.getByText("no run 'nonesuch'").waitFor();
  });

  it("keeps its panes in tabs on a narrow screen", async () => {
    const page = await site.open(`#/run/${run}?at=20`, { viewport: { width: 360, height: 740 } });
    await messages(page).waitFor();
    await page.getByRole("tab", { name: "Event", exact: true }).click();
    await page.locator("[data-chunk]").waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("listbox", { name: "Events" }).waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(360);
    expect(await violations(page)).toEqual([]);
  });

  it.each([1440, 1024, 390])("has no accessibility violations in both themes at %d px", async (width) => {
    const page = await site.open(`#/run/${run}?at=30`, { viewport: { width, height: 844 } });
    await waitForPosition(page, 30);
    if (width > 900) await page.locator("[data-raw]").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });

  // The last test: it deletes the logs of all runs.
  it("shows that the log was deleted, with a link to the session", async () => {
    await python(
      `import asyncio, sys
from datetime import timedelta
from partita.store import Retention
from partita.store.connection import open_store

async def drop():
    async with open_store(sys.argv[1]) as store:
        await store.logs.drop(Retention(max_age=timedelta(0)))

asyncio.run(drop())`,
      `sqlite:///${site.folder}/store.db`,
    );
    const page = await site.open(`#/run/${run}`, { expected: [/404/] });
    await page.getByText(/The log of this run was deleted/).waitFor();
    const session = page.getByRole("link", { name: "Open the session to see its messages" });
    expect(await session.getAttribute("href")).toContain("#/t/weather");
  });
});
