import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import type { OpenOptions } from "./setup/pages";
import { importLines, sessionLines } from "./setup/session";
import { type Site, serve } from "./setup/site";

/** Without API keys only the demo agents are available. */
const WITHOUT_KEYS = Object.fromEntries(
  ["ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE", "OPENROUTER", "MISTRAL", "DEEPSEEK", "GROQ", "XAI"].map(
    (name) => [`${name}_API_KEY`, ""],
  ),
);

const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR4nGNgaPiPFTEMLYkG7AgAVkp/gdWHg8sAAAAASUVORK5CYII=",
  "base64",
);

const box = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true });
const send = (page: Page) => page.getByRole("button", { name: "Send", exact: true });
const answers = (page: Page) => page.locator('article[data-role="assistant"][data-depth="0"]');
const questions = (page: Page) => page.locator('article[data-role="user"][data-depth="0"]');

const isFocused = (page: Page) => box(page).evaluate((area) => area === document.activeElement);

/** Waits until no run is active and all messages are stored. */
async function idle(page: Page): Promise<void> {
  await send(page).waitFor();
  await page.locator("[data-session-state=Running]").waitFor({ state: "detached" });
}

async function write(page: Page, words: string): Promise<void> {
  await box(page).fill(words);
  await page.keyboard.press("Enter");
}

async function ask(site: Site, words: string, options?: OpenOptions): Promise<Page> {
  const page = await site.open("#/new", options);
  await write(page, words);
  await page.waitForURL(/#\/t\//);
  return page;
}

/** Sends a message without a page: calls of client-side tools stay pending. */
async function askWithoutPage(site: Site, thread: string, text: string): Promise<void> {
  const message = { id: `${thread}-u`, role: "user", parts: [{ type: "text", text }] };
  const response = await fetch(new URL("api/chat", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: thread, agent: "demo", messages: [message] }),
  });
  await response.text();
}

describe("a chat", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve({ env: WITHOUT_KEYS });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("keeps the focus in its input when the first message is sent, and when a response is stopped", async () => {
    const page = await site.open("#/new");
    await box(page).waitFor();
    await page.route("**/api/threads", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 150)); // the session is created while the user types on
      await route.continue();
    });
    await page.keyboard.type("a long story");
    await page.keyboard.press("Enter");
    await page.keyboard.type("good ", { delay: 40 }); // g g o d: shortcuts of the page
    await page.waitForURL(/#\/t\//);
    await page.keyboard.type("dogs jump", { delay: 10 });
    expect(await box(page).inputValue()).toBe("good dogs jump");
    await answers(page).getByText("On day 1 ").waitFor();
    await page.getByText("Esc to stop").waitFor();
    await page.keyboard.press("Escape");
    await answers(page).getByText("Stopped").waitFor();
    await idle(page);
    await page.keyboard.type("ed");
    expect(await box(page).inputValue()).toBe("good dogs jumped");
    await page.keyboard.press("Enter"); // the next message
    await expect.poll(() => box(page).inputValue()).toBe("");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.keyboard.type("next");
    expect(await box(page).inputValue()).toBe("next");
    await idle(page);
  });

  it("stops a response by Escape anywhere on the page, unless a dialog is open", async () => {
    const page = await ask(site, "a long story");
    await answers(page).getByText("On day 1 ").waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Stop the response").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.getByText("Responding …").count()).toBe(1);
    await page.keyboard.press("Escape");
    await answers(page).getByText("Stopped").waitFor();
    await idle(page);
  });

  it("focuses its input after a suggestion, an approval and a regenerated response", async () => {
    const page = await site.open("#/new");
    await page.getByRole("button", { name: "Approve a postcard" }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    await page.keyboard.type("and");
    expect(await box(page).inputValue()).toBe("and");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.keyboard.press("Enter");
    await answers(page).getByText("That is settled, then.").waitFor();
    await page.keyboard.type(" then");
    expect(await box(page).inputValue()).toBe("and then");
    await idle(page);
    await answers(page).hover();
    await page.getByRole("button", { name: "Regenerate response", exact: true }).click();
    await page.keyboard.type("?");
    expect(await box(page).inputValue()).toBe("and then?");
    await page.keyboard.press("Escape");
    await idle(page);
  });

  it("returns the focus when a menu, a dialog or the raw events are closed", async () => {
    const page = await ask(site, "What is the weather?");
    await answers(page).getByText("In Vardø the sky is clear").waitFor();
    await idle(page);
    const isActive = (element: Locator) => element.evaluate((it) => it === document.activeElement);
    const more = page.getByRole("main").getByRole("button", { name: "More", exact: true }).first();
    await more.click();
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => isActive(more)).toBe(true);
    await answers(page).hover();
    const raw = answers(page).getByRole("button", { name: "Show raw events" });
    await raw.click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await isActive(raw)).toBe(true);
  });

  it("has no animations with reduced motion while it responds", async () => {
    const page = await site.open("#/new");
    await page.emulateMedia({ reducedMotion: "reduce" });
    await write(page, "a long story");
    await answers(page).getByText("On day 2 ").waitFor();
    const endless = await page.evaluate(() =>
      document
        .getAnimations()
        .filter((one) => one.playState === "running" && one.effect?.getComputedTiming().iterations !== 1)
        .map((one) => (one as CSSAnimation).animationName),
    );
    expect(endless).toEqual([]);
    await page.keyboard.press("Escape");
    await idle(page);
  });

  it("is not changed or deleted by any letter", async () => {
    const page = await ask(site, "What is the weather?");
    await answers(page).getByText("In Vardø the sky is clear").waitFor();
    await idle(page);
    const session = page.url();
    const changes: string[] = [];
    page.on("request", (request) => request.method() === "GET" || changes.push(request.url()));
    for (const letter of "abdefhijklmnopqrstuvwxyz") {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press(letter);
      await page.keyboard.press(`Shift+${letter.toUpperCase()}`);
      await page.keyboard.press("Escape");
    }
    expect(changes.filter((url) => /threads\/[^/]+$|api\/(?:chat|runs)/.test(url))).toEqual([]);
    await page.goto(session); // letters open other sessions and views
    await answers(page).getByText("In Vardø the sky is clear").waitFor();
  });

  it("starts with an agent and a message, and streams the response", async () => {
    const page = await ask(site, "What is the weather?");
    await page.getByText("Responding …").waitFor();
    await answers(page).getByText("In Vardø the sky is clear").waitFor();
    await idle(page);
    expect(await questions(page).count()).toBe(1);
    expect(await page.title()).toBeTruthy();
    const asked = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    expect(asked.filter((name) => name.endsWith("/api/agents"))).toHaveLength(1);
    await write(page, "And now?");
    await answers(page).getByText("I am a script").waitFor();
    await idle(page);
    expect([await questions(page).count(), await answers(page).count()]).toEqual([2, 2]);
  });

  it("can be used by keyboard, and keeps a draft", async () => {
    const page = await site.open("#/new");
    await box(page).waitFor();
    expect(await isFocused(page)).toBe(true);
    await page.keyboard.type("two");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("lines");
    expect(await box(page).inputValue()).toBe("two\nlines");
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("c");
    expect(await isFocused(page)).toBe(true);
    await page.reload();
    expect(await box(page).inputValue()).toBe("two\nlines"); // a draft is kept
  });

  it("shows unavailable agents with the reason", async () => {
    const page = await site.open("#/new");
    const list = page.getByRole("region", { name: "Not set up yet" });
    await list.getByText("set ANTHROPIC_API_KEY").waitFor();
    expect(await page.getByRole("radio").count()).toBeGreaterThanOrEqual(2);
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await site.open("#/new");
    await page.getByRole("heading", { name: "New chat" }).waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });

  it("keeps the response when it is stopped", async () => {
    const page = await ask(site, "a long story");
    await answers(page).getByText("On day 2 ").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await idle(page);
    const shown = await answers(page).innerText();
    expect(shown).toContain("On day 2 ");
    expect(shown).not.toContain("On day 40 ");
    expect(shown).toContain("Stopped");
    await page.reload();
    await answers(page).getByText("On day 2 ").waitFor();
    await expect.poll(() => answers(page).innerText()).toBe(shown);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await questions(page).getByText("Continue", { exact: true }).waitFor();
    await answers(page).getByText("I am a script").waitFor();
    await idle(page);
  });

  it("shows the same kind of a call while it is streaming and when it is stored", async () => {
    const page = await ask(site, "edit the range", { preferences: { detail: "everything" } });
    await page.getByRole("button", { name: "Everything", exact: true }).click();
    const kinds = () =>
      page
        .locator("[data-tool-kind]")
        .evaluateAll((cards) => cards.map((card) => (card as HTMLElement).dataset.toolKind));
    const shell = page.getByRole("group", { name: /^Shell pytest -q tests\/test_lamp\.py/ });
    await shell.waitFor();
    expect(await page.locator("[data-session-state=Running]").count()).toBe(1);
    await page
      .getByRole("group", { name: /^Edit / })
      .first()
      .waitFor();
    await idle(page);
    const live = await kinds();
    expect(live).toContain("command");
    expect(live).toContain("edit");
    await page.reload();
    await shell.waitFor();
    await expect.poll(kinds).toEqual(live);
  });

  it("continues when a call is approved", async () => {
    const page = await ask(site, "approve it");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await answers(page).getByText("That is settled, then.").waitFor();
    await idle(page);
    expect(await answers(page).count()).toBe(1);
    const card = page.getByRole("button", { name: /^send_postcard/ });
    if ((await card.getAttribute("aria-expanded")) === "false") await card.click();
    await page.getByText("is on its way to Aunt Ragna").first().waitFor();
  });

  it("continues when a call is denied with a reason, also after a reload", async () => {
    const page = await ask(site, "approve it");
    await page.getByRole("button", { name: "Deny", exact: true }).waitFor();
    await idle(page);
    await page.reload();
    await page.getByLabel("Reason (optional)").fill("not today");
    await page.getByRole("button", { name: "Deny", exact: true }).click();
    await answers(page).getByText("That is settled, then.").waitFor();
    await idle(page);
    await page.getByText("not today", { exact: true }).waitFor();
    await page.getByText(/^Denied/).waitFor();
  });

  it("runs a client-side tool of the page", async () => {
    const page = await ask(site, "the client");
    await answers(page).getByText("Thank you, now I know.").waitFor();
    await idle(page);
    await page.getByRole("button", { name: /^get_local_time/ }).click();
    await page.getByText("UTC").first().waitFor();
  });

  it.each([
    ["run", "Run here", "UTC"],
    ["declined", "Decline", "my clock is broken"],
  ])("lets a pending client-side call be %s later", async (thread, button, came) => {
    await askWithoutPage(site, thread, "ask the client");
    const page = await site.open(`#/t/${thread}`);
    await page.getByRole("button", { name: "get_local_time Waiting for you" }).waitFor();
    await page.getByLabel("Reason to decline (optional)").fill("my clock is broken");
    await page.getByRole("button", { name: button, exact: true }).click();
    await answers(page).getByText("Thank you, now I know.").waitFor();
    await idle(page);
    expect(await answers(page).count()).toBe(1);
    expect(await page.getByRole("button", { name: button, exact: true }).count()).toBe(0);
    const card = page.getByRole("button", { name: /^get_local_time/ });
    if ((await card.getAttribute("aria-expanded")) === "false") await card.click();
    await page.getByText(came).first().waitFor();
  });

  it("selects the agent of the last response, also after a reload", async () => {
    await askWithoutPage(site, "two-agents", "the weather");
    const page = await site.open("#/t/two-agents");
    const picker = page.getByLabel("Agent", { exact: true });
    expect(await picker.inputValue()).toBe("demo");
    await picker.selectOption("demo-network");
    await page.reload();
    expect(await picker.inputValue()).toBe("demo-network");
    await write(page, "When shall we sail?");
    await answers(page).nth(1).waitFor();
    await idle(page);
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await expect.poll(() => picker.inputValue()).toBe("demo-network");
    await answers(page).last().hover();
    const request = page.waitForRequest("**/api/chat");
    await page.getByRole("button", { name: "Regenerate response", exact: true }).last().click();
    expect((await request).postDataJSON().agent).toBe("demo-network");
    await idle(page);
  });

  it("creates a branch when a message is edited or a response is regenerated", async () => {
    const page = await ask(site, "think");
    await answers(page).getByText("28 kilometres").waitFor();
    await idle(page);
    await questions(page).hover();
    await page.getByRole("button", { name: "Edit and ask again", exact: true }).click();
    await page.getByLabel("Message text").press("Escape");
    await page.keyboard.press("Enter"); // the focus is back on the button
    await page.getByLabel("Message text").fill("the");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("weather");
    expect(await page.getByLabel("Message text").inputValue()).toBe("the\nweather");
    await page.getByLabel("Message text").fill("the weather");
    await page.keyboard.press("Enter");
    await answers(page).getByText("In Vardø").waitFor();
    await idle(page);
    expect(await questions(page).innerText()).toContain("the weather");
    expect(await page.getByText("28 kilometres").count()).toBe(0);
    await answers(page).hover();
    await page.getByRole("button", { name: "Regenerate response", exact: true }).click();
    await page.getByText("Responding …").waitFor();
    await idle(page);
    await answers(page).getByText("In Vardø").waitFor();
    expect([await questions(page).count(), await answers(page).count()]).toEqual([1, 1]);
    const groups = page.getByRole("group", { name: "Branches" });
    await expect.poll(() => groups.count()).toBe(2);
    await groups.first().getByRole("button", { name: "Previous branch" }).click();
    await answers(page).getByText("28 kilometres").waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Next branch");
  });

  it("shows attached files before and after they are sent", async () => {
    const page = await site.open("#/new");
    await box(page).waitFor();
    await page.locator('input[type="file"]').setInputFiles([
      { name: "lamp.png", mimeType: "image/png", buffer: PICTURE },
      { name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("Day 1: three ships.") },
    ]);
    const list = page.getByRole("list", { name: "Attached files" });
    await list.getByText("lamp.png").waitFor();
    await page.getByRole("button", { name: "Remove log.txt" }).click();
    expect(await list.getByRole("listitem").count()).toBe(1);
    await write(page, "weather, in this picture");
    await answers(page).getByText("In Vardø").waitFor();
    await idle(page);
    const picture = questions(page).locator("img");
    await picture.waitFor();
    expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(8);
    await page.reload();
    await picture.waitFor();
  });

  it("continues when the page is reloaded during a response", async () => {
    const page = await ask(site, "a long story");
    await answers(page).getByText("On day 2 ").waitFor();
    await page.reload();
    await page.getByText("Responding …").waitFor();
    await answers(page).getByText("On day 2 ").waitFor();
    await answers(page).getByText("On day 4 ").waitFor();
    expect(await answers(page).count()).toBe(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await idle(page);
  });

  it("can be followed and stopped from another page", async () => {
    const page = await ask(site, "a long story");
    await answers(page).getByText("On day 1 ").waitFor();
    const other = await site.open(new URL(page.url()).hash);
    await other.getByText("Responding …").waitFor(); // follows the same run
    await other.getByRole("button", { name: "Stop", exact: true }).click();
    await idle(other);
    await idle(page);
    await answers(page).getByText("Stopped").waitFor();
    expect(await answers(page).innerText()).toBe(await answers(other).innerText());
  });

  it("continues an imported session in a copy that links to the original", async () => {
    const session = "5e551000-0000-4000-8000-00000000f04c";
    const shown = ["Bake bread", "I knead the dough.", "And then?", "Then it rests."];
    await importLines(site, sessionLines(session, shown));
    const page = await site.open(`#/t/${session}`);
    await page.getByText("This session was imported from Claude Code").waitFor();
    expect(await box(page).count()).toBe(0);
    await page.getByRole("button", { name: "Fork and continue with" }).click();
    await page.waitForURL((url) => /^#\/t\/./.test(url.hash) && !url.hash.includes(session));
    await answers(page).getByText("Then it rests.").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Bake bread");
    await expect.poll(() => isFocused(page)).toBe(true);
    await page.keyboard.type("And the weather?");
    await page.keyboard.press("Enter");
    await answers(page).getByText("In Vardø the sky is clear").waitFor();
    await idle(page);
    expect([await questions(page).count(), await answers(page).count()]).toEqual([3, 3]);
    const copy = new URL(page.url()).hash.split("/")[2]?.split("?")[0];
    const { metadata } = await site.api<{ metadata: { clone: object } }>("GET", `api/threads/${copy}`);
    expect(metadata.clone).toEqual({ threadId: session, messageId: `msg-${session}-3` });
    await page.getByRole("link", { name: "forked" }).click();
    await expect.poll(() => page.url()).toContain(`#/t/${session}?m=msg-${session}-3`);
    const untouched = await site.api<{ messageCount: number }>("GET", `api/threads/${session}`);
    expect(untouched.messageCount).toBe(4);
  });

  it("shows why a message was rejected, and keeps its text", async () => {
    const page = await site.open("#/new", { expected: [/Failed to load resource/] });
    const reject = (route: Route) =>
      route.fulfill({ status: 409, json: { detail: "The thread is busy.", hint: "Wait a little." } });
    await page.route("**/api/chat", reject, { times: 1 });
    await write(page, "the weather");
    await page.getByText("The thread is busy. Wait a little.").waitFor();
    expect(await box(page).inputValue()).toBe("the weather");
    await page.keyboard.press("Enter");
    await answers(page).getByText("In Vardø").waitFor();
    await idle(page);
    await page.route("**/api/chat", reject);
    await write(page, "once more");
    await page.getByText("The thread is busy. Wait a little.").waitFor();
    expect(await box(page).inputValue()).toBe("once more");
    await questions(page).nth(1).waitFor({ state: "detached" });
  });
});

describe("a chat with other agents", () => {
  let site: Site;
  beforeAll(async () => {
    const args = ["letters", "unreliable"].flatMap((name) => [
      "--agent",
      `web.e2e.setup.chat_agents:${name}`,
    ]);
    site = await serve({ env: WITHOUT_KEYS, args });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("shows why a response failed, counts it as an error, and retries it, also after a reload", async () => {
    const page = await site.open("#/new");
    await page.getByText("unreliable", { exact: true }).click();
    await write(page, "Can you hear me?");
    await answers(page).getByText("Failed: ConnectionError: no connection to the model").waitFor();
    await answers(page).getByText("choose another agent").waitFor();
    await page.getByRole("link", { name: /Can you hear me\?.*1\s*error/ }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Retry", exact: true }).click();
    await answers(page).getByText("Now I can hear you.").waitFor();
    expect(await isFocused(page)).toBe(true);
    await idle(page);
    expect(await questions(page).count()).toBe(1);
    expect(await page.getByRole("button", { name: "Retry", exact: true }).count()).toBe(0);
    await page.getByRole("group", { name: "Branches" }).getByText("2 of 2").waitFor();
  });

  it("leads from one approval to the next, and back to the input", async () => {
    const page = await ask(site, "Write to them");
    const approve = page.getByRole("button", { name: "Approve", exact: true });
    await approve.nth(1).waitFor();
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab"); // to Deny, of the second
    await page.keyboard.press("Enter");
    await answers(page).getByText("Both letters are settled.").waitFor();
    expect(await isFocused(page)).toBe(true);
    await page.getByText("Denied").waitFor();
    await idle(page);
  });
});

describe("a server that crashes during a response", () => {
  const folder = mkdtempSync(join(tmpdir(), "partita-e2e-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is retried, and the response is kept with the reason of its end", async () => {
    const lease = ["--lease", "3"]; // seconds until the lease of the crashed server expires
    const first = await serve({ folder, env: WITHOUT_KEYS, args: lease });
    const page = await first.open("#/new", { expected: [/net::ERR_|Failed to load resource/] });
    await write(page, "a long story");
    await answers(page).getByText("On day 3 ").waitFor();
    await first.halt(true);
    await page.getByText("Retrying").waitFor();
    expect(await answers(page).innerText()).toContain("On day 3 ");
    const port = ["--port", new URL(first.address).port];
    const second = await serve({ folder, env: WITHOUT_KEYS, args: [...port, ...lease] });
    try {
      await page.getByText("Retrying").waitFor({ state: "detached" });
      await idle(page);
      await answers(page)
        .getByText(/interrupted/i)
        .waitFor(); // part of the stored message
      const shown = await answers(page).innerText();
      expect(shown).toContain("On day 3 ");
      await page.reload();
      await answers(page).getByText("On day 3 ").waitFor();
      expect(await answers(page).innerText()).toBe(shown);
      await write(page, "the weather");
      await answers(page).getByText("In Vardø").waitFor();
      await idle(page);
    } finally {
      await first.stop();
      await second.stop();
    }
    first.check();
  });
});
