/** A response looks exactly the same after streaming and after a reload of the page. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Site, serve } from "./setup/site";

const TOP = 'main article[data-depth="0"]';

/** A question for the demo agent, and a text of its response. */
const SCENES = {
  weather: "In Vardø the sky is clear",
  think: "28 kilometres",
  edit: "all three tests pass",
  markdown: "put it out",
  approve: "Waiting for approval",
  client: "Thank you, now I know.",
  fail: "the script says that this one fails",
  hello: "I am a script",
} as const;

/** The HTML of the conversation without the ids that React generates. */
function htmlOf(page: Page): Promise<string> {
  return page
    .locator(TOP)
    .evaluateAll((articles) =>
      articles
        .map((article) => article.outerHTML.replace(/_r_[0-9a-z]+_/g, "ID").replace(/></g, ">\n<"))
        .join("\n\n"),
    );
}

async function startChat(site: Site, text: string): Promise<Page> {
  const page = await site.open("#/new");
  await page.getByRole("heading", { name: "New chat" }).waitFor();
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/t\//);
  return page;
}

/** Waits until all messages are stored. */
async function settled(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await page.locator("[data-session-state=Running]").waitFor({ state: "detached" });
}

/** Removes the focus and the pointer from the messages. */
async function clearFocus(page: Page): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
}

/** Reloads the page and waits until it is stable. */
async function reload(page: Page, sign: string): Promise<void> {
  await page.reload();
  await page.locator(TOP).getByText(sign).first().waitFor();
  await settled(page);
}

/** Waits until every diagram has rendered. Rendering starts near the viewport. */
async function diagrams(page: Page): Promise<void> {
  for (const one of await page.locator(`${TOP} [data-diagram]`).all()) {
    await one.scrollIntoViewIfNeeded();
    await one.and(page.locator('[data-diagram="drawn"]')).waitFor();
  }
}

/** The result of `htmlOf` when it no longer changes: formulas and colours are rendered after their text. */
async function stableHtml(page: Page): Promise<string> {
  await diagrams(page);
  await clearFocus(page);
  let last = "";
  let now = await htmlOf(page);
  for (let tries = 0; tries < 40 && now !== last; tries++) {
    await page.waitForTimeout(250);
    last = now;
    now = await htmlOf(page);
  }
  return now;
}

/** Records which texts were displayed while a run was active. Each is a depth and a text. */
async function recordLive(page: Page, wanted: readonly string[]): Promise<void> {
  await page.evaluate((all) => {
    const seen = new Set<string>();
    Object.assign(window, { seenLive: seen });
    const isActive = () => [...document.querySelectorAll("button")].some((one) => one.textContent === "Stop");
    const look = () => {
      if (!isActive()) return;
      for (const one of all) {
        if (seen.has(one)) continue;
        const [depth = "", words = ""] = [one.slice(0, 1), one.slice(2)];
        const found = [...document.querySelectorAll<HTMLElement>(`article[data-depth="${depth}"]`)];
        const holding = found.filter((article) => article.textContent?.includes(words)); // cheap: no layout
        if (holding.some((article) => article.innerText.includes(words))) seen.add(one);
      }
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  }, wanted);
}

const seenLive = (page: Page): Promise<string[]> =>
  page.evaluate(() => [...(window as unknown as { seenLive: Set<string> }).seenLive].sort());

describe("a live conversation and its stored version", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it.each(Object.entries(SCENES))("look the same: %s", async (word, sign) => {
    const page = await startChat(site, word);
    await page.locator(TOP).getByText(sign).first().waitFor();
    await settled(page);
    const live = await stableHtml(page);
    await reload(page, sign);
    expect(await stableHtml(page)).toBe(live);
  });

  it("look the same: a network, which is displayed while it is running", async () => {
    const page = await site.open("#/new");
    await page.getByText("demo-network", { exact: true }).click();
    await recordLive(page, ["0 The pilot knows the sound.", "1 Leave fifty"]);
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("When shall we sail?");
    await page.keyboard.press("Enter");
    await page.locator(TOP).getByText("16:50").waitFor();
    await settled(page);
    expect(await seenLive(page)).toEqual(["0 The pilot knows the sound.", "1 Leave fifty"]);
    expect(await page.locator(TOP).count()).toBe(4);
    const live = await stableHtml(page);
    await reload(page, "16:50");
    expect(await stableHtml(page)).toBe(live);
  });

  it("look the same: sub-agents nested under their calls", async () => {
    const page = await site.open("#/new");
    await page.getByRole("heading", { name: "New chat" }).waitFor();
    await recordLive(page, ["1 The log is clear", "2 Oil is full"]);
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("team");
    await page.keyboard.press("Enter");
    await page.locator(TOP).getByText("36 ships").first().waitFor();
    await settled(page);
    expect(await seenLive(page)).toEqual(["1 The log is clear", "2 Oil is full"]);
    const live = await stableHtml(page);
    await reload(page, "36 ships");
    expect(await stableHtml(page)).toBe(live);
    const card = (name: RegExp) => page.getByRole("button", { name, expanded: false }).first();
    await card(/surveyor/).click();
    await page.locator('article[data-depth="1"]').getByText("The log is clear").waitFor();
    await card(/clerk/).click();
    await page.locator('article[data-depth="2"]').getByText("Oil is full").waitFor();
  });

  it("do not shift the layout when stored messages replace live ones", async () => {
    const page = await startChat(site, "weather");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.locator(TOP).getByText("In Vardø").waitFor();
    await page.route(/\/api\/threads\/.+/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    const positions = () =>
      page
        .locator(`${TOP} p, ${TOP} [data-part]`)
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    const words = () => page.locator(`${TOP} p`).allInnerTexts();
    await clearFocus(page);
    const [textsBefore, positionsBefore] = [await words(), await positions()];
    release();
    await settled(page);
    await page
      .getByText(/^\d+ ms$/)
      .first()
      .waitFor(); // the duration of a call is only known from the store
    expect([await words(), await positions()]).toEqual([textsBefore, positionsBefore]);
  });

  it("do not shift finished paragraphs during a fast stream", async () => {
    const page = await startChat(site, "flood");
    await page.evaluate(() => {
      const seen = window as unknown as { longest: number; long: number };
      seen.longest = seen.long = 0;
      new PerformanceObserver((entries) => {
        for (const { duration } of entries.getEntries()) {
          seen.long += 1;
          seen.longest = Math.max(seen.longest, duration);
        }
      }).observe({ type: "longtask" });
    });
    const waves = page.locator(`${TOP}[data-role="assistant"] p`);
    await waves.nth(3).waitFor();
    // The position of each paragraph in its message must not change.
    const positions = () =>
      waves.evaluateAll((all) => {
        const top = all[0]?.getBoundingClientRect().top ?? 0;
        return all.slice(0, 3).map((one) => {
          const box = one.getBoundingClientRect();
          return [box.left, box.top - top, box.width, box.height].map(Math.round).join(" ");
        });
      });
    const before = await positions();
    await waves.nth(12).waitFor();
    expect(await positions()).toEqual(before);
    await page.locator(TOP).getByText("26.38").waitFor();
    await settled(page);
    expect(await positions()).toEqual(before);
    const [long, longest] = await page.evaluate(() => {
      const seen = window as unknown as { longest: number; long: number };
      return [seen.long, seen.longest];
    });
    console.info(`a flood of 200 chunks a second: ${long} tasks over 50 ms, the longest ${longest} ms`);
  });
});
