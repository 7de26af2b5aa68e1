import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importLines } from "./setup/session";
import { python, type Site, serve } from "./setup/site";

const text = (words: string) => [{ type: "text", text: words }];
const user = (id: string, words: string, more: object = {}) => ({
  id,
  role: "user",
  content: text(words),
  ...more,
});
const agent = (id: string, parts: unknown, more: object = {}) => ({
  id,
  role: "assistant",
  content: parts,
  ...more,
});

const MESSAGES = [
  user("q1", "How tall is the lighthouse?"),
  agent("a1", [
    { type: "reasoning", text: "Somebody has to measure it." },
    {
      type: "tool-call",
      id: "c1",
      name: "Bash",
      state: "output-available",
      input: { command: "measure lighthouse" },
      output: { type: "text", value: "41 m" },
    },
    { type: "text", text: "It is **41 metres** tall." },
  ]),
  user("q2", "And the old one?", { parentId: "a1" }),
  agent("a2", text("It fell into the sea."), { parentId: "q2" }),
  agent("a3", text("Thirty metres, they say."), { parentId: "q2" }),
];

const feed = (page: Page) => page.getByRole("region", { name: "Messages" });
const row = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);

/** A run with two messages and raw bytes. */
const RUNS = `
import asyncio, sys
from datetime import UTC, datetime, timedelta
from partita.store.connection import open_store
from partita.store.logs.run_log import LogEntry
from partita.types.chunks import MessageStart, TextDelta, TextEnd, TextStart
from partita.types.messages import AssistantMessage, UserMessage

async def main(url):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    async with open_store(url) as store:
        await store.threads.create("ours", title="A run of ours", agent="scripted")
        run = await store.runs.open("ours", id="run-1")
        chunks = [MessageStart("m1"), TextStart("t"), TextDelta("t", "One"), TextEnd("t"),
                MessageStart("m2"), TextStart("t"), TextDelta("t", "Two"), TextEnd("t")]
        await store.logs.append(run.id, [
            LogEntry(noon + timedelta(seconds=n), chunk, b'{"event": %d, "words": "as sent"}\\n' % n)
            for n, chunk in enumerate(chunks)
        ])
        await store.messages.save([
            UserMessage(id="u1", content="Count"),
            AssistantMessage(id="m1", content="One", run_id=run.id),
            AssistantMessage(id="m2", content="Two", run_id=run.id),
        ], thread_id="ours")
        await store.runs.finish(run.id, message_id="m2")

asyncio.run(main(sys.argv[1]))
`;

const SESSION = "5e551000-0000-4000-8000-00000000c0de";
const around = (type: string, uuid: string, parentUuid: string | null, message: object) => ({
  parentUuid,
  isSidechain: false,
  type,
  uuid,
  timestamp: `2026-04-01T08:00:0${uuid.at(-1)}.000Z`,
  sessionId: SESSION,
  cwd: "/kitchen",
  version: "2.0.50",
  gitBranch: "main",
  userType: "external",
  message,
});
const answered = (id: string, content: object[]) => ({
  id,
  type: "message",
  role: "assistant",
  model: "claude-baker",
  content,
  stop_reason: null,
  usage: { input_tokens: 3, output_tokens: 10 },
});
const LINES = [
  around("user", "line-1", null, { role: "user", content: "Is the oven hot enough for bread?" }),
  around(
    "assistant",
    "line-2",
    "line-1",
    answered("msg_one", [{ type: "tool_use", id: "toolu_oven", name: "Oven", input: { ask: "heat" } }]),
  ),
  around("user", "line-3", "line-2", {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "toolu_oven", content: "240 degrees" }],
  }),
  around(
    "assistant",
    "line-4",
    "line-3",
    answered("msg_two", [{ type: "text", text: "It is hot enough: two hundred and forty degrees." }]),
  ),
].map((line) => JSON.stringify(line));

describe("a conversation", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      { thread: { id: "t1", title: "Lighthouses", project: "coast", agent: "demo" }, messages: MESSAGES },
    ]);
    await python(RUNS, `sqlite:///${join(site.folder, "store.db")}`);
    await importLines(site, `${LINES.join("\n")}\n`);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("shows a session with its title and its messages", async () => {
    const page = await site.open("#/t/t1");
    await row(page, "a3").getByText("Thirty metres").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Lighthouses"]);
    expect(await feed(page).locator("[data-message]").count()).toBe(4);
    await page.getByRole("main").getByText("4 messages", { exact: true }).waitFor();
  });

  it("counts the same messages in the list and in the header, also when it shows internal ones", async () => {
    const hidden = agent("hidden", text("Route it."), { internal: true });
    await site.seed([{ thread: { id: "counted" }, messages: [user("c1", "Hello?"), hidden] }]);
    const page = await site.open("#/t/counted");
    await page.getByRole("main").getByText("1 message", { exact: true }).waitFor();
    await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitemcheckbox", { name: /internal/i }).click();
    await row(page, "hidden").waitFor();
    expect(await page.getByRole("main").getByText("1 message", { exact: true }).count()).toBe(1);
  });

  it("opens at the message and part in its address", async () => {
    const page = await site.open("#/t/t1?m=a1&p=2");
    await page.locator('[data-message="a1"][data-highlighted="true"]').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-message"))).toBe("a1");
    await page.locator('[data-message="a1"][data-highlighted="false"]').waitFor();
  });

  it("copies the link of a message that is selected by keyboard", async () => {
    const page = await site.open("#/t/t1");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await row(page, "a3").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("k");
    await page.locator('[data-message="q2"][data-selected="true"]').waitFor();
    await page.keyboard.press("p");
    await page.locator('[data-message="q1"][data-selected="true"]').waitFor();
    await page.keyboard.press("l");
    await page.getByText("Link copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.address}/#/t/t1?m=q1`);
  });

  it("switches between branches", async () => {
    const page = await site.open("#/t/t1");
    const branches = row(page, "a3").getByRole("group", { name: "Branches" });
    await branches.getByText("2 of 2").waitFor();
    await branches.getByRole("button", { name: "Previous branch" }).click();
    await row(page, "a2").getByText("1 of 2").waitFor();
    await row(page, "a3").waitFor({ state: "detached" });
    const thread = await site.api<{ activeLeafId: string }>("GET", "api/threads/t1");
    expect(thread.activeLeafId).toBe("a2");
    await row(page, "a2").getByRole("button", { name: "Next branch" }).click();
    await row(page, "a3").waitFor();
  });

  it("shows another branch if the address selects it, without activating it", async () => {
    const page = await site.open("#/t/t1?m=a2");
    await row(page, "a2").waitFor();
    await page.getByText("This branch is not the active one.").waitFor();
    expect((await site.api<{ activeLeafId: string }>("GET", "api/threads/t1")).activeLeafId).toBe("a3");
  });

  it("shows the raw events of each message of a run", async () => {
    const page = await site.open("#/t/ours?m=m2");
    await row(page, "m2").waitFor();
    await page.keyboard.press(".");
    const panel = page.getByRole("dialog", { name: "Raw events" });
    await panel.getByText("4 events", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "As sent" }).click();
    await panel.locator("li").first().waitFor();
    const shown = await panel.locator("li pre").allTextContents();
    const log = await site.api<{ items: { raw: string }[] }>("GET", "api/runs/run-1/log");
    expect(shown).toEqual(log.items.slice(4).map(({ raw }) => raw));
    await page.keyboard.press("Escape");
  });

  it("shows the log lines of an imported message", async () => {
    const [thread] = (await site.api<{ items: { id: string }[] }>("GET", "api/threads?agent=claude-code"))
      .items;
    const page = await site.open(`#/t/${thread?.id}`);
    const answer = feed(page).locator("[data-message]").last();
    await answer.getByText("two hundred and forty").waitFor();
    await answer.hover();
    await answer.getByRole("button", { name: "Show raw events" }).first().click();
    const panel = page.getByRole("dialog", { name: "Raw events" });
    await panel.getByText("1 event", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "As sent" }).click();
    await panel.locator("li pre").first().waitFor();
    expect(await panel.locator("li pre").allTextContents()).toEqual(LINES.slice(-1));
    await page.keyboard.press("Escape");
    const call = row(page, "msg_one");
    await call.hover();
    await call.getByRole("button", { name: "Show raw events" }).first().click();
    await panel.getByText("2 events", { exact: true }).waitFor();
    await panel.getByRole("button", { name: "As sent" }).click();
    expect(await panel.locator("li pre").allTextContents()).toEqual(LINES.slice(1, 3));
  });

  it("expands and collapses everything with one key", async () => {
    const page = await site.open("#/t/t1");
    const reasoning = row(page, "a1").getByText("Somebody has to measure it.");
    await row(page, "a1").waitFor();
    await page.keyboard.press("o");
    await reasoning.waitFor();
    await page.keyboard.press("o");
    await reasoning.waitFor({ state: "detached" });
  });

  it("forks from a message", async () => {
    const page = await site.open("#/t/t1");
    await row(page, "a1").hover();
    await row(page, "a1").getByRole("button", { name: "Fork from here" }).click();
    await page.waitForURL(/#\/t\/(?!t1)/);
    await page.getByRole("main").getByText("2 messages", { exact: true }).waitFor();
  });

  it("shows new messages, and follows the end only when it is at the end", async () => {
    const long = Array.from({ length: 30 }, (_, n) => user(`g${n}`, `Line ${n}\n\nwith more below it`));
    await site.seed([{ thread: { id: "grows", title: "It grows" }, messages: long }]);
    const page = await site.open("#/t/grows");
    await row(page, "g29").waitFor();
    await site.api("POST", "api/threads/grows/messages", [agent("g30", text("Here is more."))]);
    await row(page, "g30").getByText("Here is more.").waitFor();
    const list = feed(page);
    await expect
      .poll(() => list.evaluate((one) => Math.round(one.scrollHeight - one.scrollTop - one.clientHeight)))
      .toBeLessThan(3);
    const end = await list.evaluate((one) => one.scrollTop);
    await list.hover();
    await page.mouse.wheel(0, -400);
    let last = end; // rows above may be measured during the scroll
    const moved = async () => {
      const before = last;
      last = await list.evaluate((one) => one.scrollTop);
      return last < end - 200 ? last - before : null;
    };
    await expect.poll(moved, { interval: 100 }).toBe(0);
    const top = await row(page, "g27").boundingBox();
    await site.api("POST", "api/threads/grows/messages", [agent("g31", text("And more."))]);
    await page.getByRole("main").getByText("32 messages", { exact: true }).waitFor();
    expect(await row(page, "g27").boundingBox()).toEqual(top);
    await page.getByRole("button", { name: "Scroll to the end" }).click();
    await row(page, "g31").waitFor();
  });

  it("shows why messages could not be loaded, and loads them on request", async () => {
    const page = await site.open("", { expected: [/Failed to load resource/] });
    const messages = /\/api\/threads\/t1\/messages\?/;
    // As for messages that are not among the first ones.
    await page.route(/\/outline\?/, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/&messages=\d+/, ""),
      }),
    );
    await page.route(messages, (route) =>
      route.fulfill({ status: 503, json: { detail: "The store is locked.", hint: "Wait a little." } }),
    );
    await page.evaluate(() => {
      location.hash = "#/t/t1";
    });
    const alert = page.getByRole("alert").filter({ hasText: "The store is locked." });
    await alert.getByText("Wait a little.").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.unroute(messages);
    await alert.getByRole("button", { name: "Try again" }).click();
    await row(page, "a3").getByText("Thirty metres").waitFor();
    expect(await alert.count()).toBe(0);
  });

  it("shows an error for an unknown session", async () => {
    const page = await site.open("#/t/nowhere", { expected: [/404/] });
    await page.getByRole("alert").getByText("no thread").waitFor();
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await site.open("#/t/t1?m=a1");
    await row(page, "a1").waitFor();
    await page.locator('[data-message="a1"][data-highlighted="false"]').waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
    expect(await violationsInBoth(page, "[role=menu]")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press(".");
    await page.getByRole("dialog", { name: "Raw events" }).getByText("No run wrote this message").waitFor();
    expect(await violationsInBoth(page, "dialog[open]")).toEqual([]);
  });
});
