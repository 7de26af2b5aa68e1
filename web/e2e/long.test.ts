import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { MANY, writeLong } from "./setup/long";
import { type Site, serve, storeIn } from "./setup/site";

const list = (page: Page) => page.getByRole("region", { name: "Messages" });
const row = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);
const renderedRows = (page: Page) => page.locator("[data-message]").count();

/** The offset of a row from the top of the list in pixels. */
const placeOf = (page: Page, id: string) =>
  row(page, id).evaluate((one) => {
    const around = one.closest("section")?.getBoundingClientRect();
    return Math.round(one.getBoundingClientRect().top - (around?.top ?? 0));
  });

/** Opens a thread, of which only what is displayed first arrives until the returned function is called. */
async function openSlowly(site: Site, threadId: string): Promise<readonly [Page, () => void]> {
  const page = await site.open("", { viewport: { width: 1440, height: 900 } });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**/api/threads/${threadId}/outline?*`, async (route) => {
    if (!route.request().url().includes("messages=")) await released;
    await route.continue();
  });
  await page.goto(`${site.address}/#/t/${threadId}`);
  return [page, release];
}

/** Waits until the list has all messages, and the layout is stable. */
async function whole(page: Page): Promise<void> {
  await expect.poll(() => list(page).evaluate((section) => section.scrollHeight)).toBeGreaterThan(100_000);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
}

describe("a conversation of 10,000 messages", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await writeLong(storeIn(site.folder));
    await site.seed([
      {
        thread: { id: "session", title: "A log", metadata: { sessionId: "s1" } },
        messages: Array.from({ length: 400 }, (_, number) => ({
          id: `s${number}`,
          role: number % 2 ? "assistant" : "user",
          content: [{ type: "text", text: `Entry ${number}. ${"Wind and waves. ".repeat(number % 90)}` }],
        })),
      },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("opens at its end, and renders only visible rows", async () => {
    const page = await site.open("#/t/long");
    await row(page, `m${MANY - 1}`).waitFor();
    await page.getByText("10,000 messages").waitFor();
    expect(await renderedRows(page)).toBeLessThan(40);
    const nodes = await list(page).evaluate((one) => one.querySelectorAll("*").length);
    expect(nodes).toBeLessThan(4000);
  });

  it("shows its last messages before it has the others, and keeps them in place", async () => {
    const [page, release] = await openSlowly(site, "long");
    const last = `m${MANY - 1}`;
    await row(page, last)
      .getByText(`Answer ${MANY - 1}`)
      .waitFor();
    const place = await placeOf(page, last);
    release();
    await whole(page);
    expect(await placeOf(page, last)).toBe(place);
    await page.keyboard.press("Home");
    await row(page, "m0").getByText("Question 0").waitFor();
  });

  it("keeps the messages in place if the user has scrolled before it has the others", async () => {
    const [page, release] = await openSlowly(site, "long");
    await row(page, `m${MANY - 1}`).waitFor();
    await list(page).hover();
    await page.mouse.wheel(0, -600);
    await expect
      .poll(() =>
        row(page, `m${MANY - 1}`)
          .count()
          .then((found) => found && placeOf(page, `m${MANY - 1}`)),
      )
      .not.toBe(0);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
    const seen = await list(page).evaluate((section) => {
      const top = section.getBoundingClientRect().top;
      const rows = [...section.querySelectorAll<HTMLElement>("[data-message]")];
      return rows.find((one) => one.getBoundingClientRect().top > top)?.dataset.message ?? "";
    });
    const place = await placeOf(page, seen);
    release();
    await whole(page);
    expect(Math.abs((await placeOf(page, seen)) - place)).toBeLessThan(3);
  });

  it("shows the first messages of a session before it has the others, and keeps them in place", async () => {
    const [page, release] = await openSlowly(site, "session");
    await row(page, "s0").getByText("Entry 0").waitFor();
    await row(page, "s1").waitFor();
    const before = await page.evaluate(() => document.querySelectorAll("[role=tree]").length);
    const box = await row(page, "s1").boundingBox();
    release();
    await whole(page);
    expect(await row(page, "s1").boundingBox()).toEqual(box);
    await page.getByRole("tree", { name: "Outline" }).waitFor();
    expect(await row(page, "s1").boundingBox()).toEqual(box);
    await page.keyboard.press("End");
    await row(page, "s399").getByText("Entry 399").waitFor();
    expect(before).toBe(0);
  });

  it("reports that the other messages cannot be loaded", async () => {
    const page = await site.open("", { expected: [/500/] });
    let isBroken = true;
    await page.route("**/api/threads/session/outline?*", async (route) => {
      if (isBroken && !route.request().url().includes("messages=")) await route.fulfill({ status: 500 });
      else await route.continue();
    });
    await page.goto(`${site.address}/#/t/session`);
    await page.getByRole("alert").waitFor();
    isBroken = false;
    await page.getByRole("button", { name: /Retry|Try again/ }).click();
    await row(page, "s0").getByText("Entry 0").waitFor();
  });

  it("opens at the message in its address, and stays there", async () => {
    const page = await site.open("#/t/long?m=m5000");
    await row(page, "m5000").getByText("Question 5000").waitFor();
    await page.locator('[data-message="m5000"][data-highlighted="true"]').waitFor();
    expect(Math.abs(await placeOf(page, "m5000"))).toBeLessThan(30);
    await row(page, "m5002").waitFor();
    expect(Math.abs(await placeOf(page, "m5000"))).toBeLessThan(30);
    expect(await renderedRows(page)).toBeLessThan(40);
  });

  it("does not jump when rows above are loaded and measured", async () => {
    const page = await site.open("#/t/long?m=m5000");
    await row(page, "m5000").waitFor();
    await page.locator('[data-message="m5000"][data-highlighted="false"]').waitFor();
    for (let turn = 0; turn < 12; turn += 1) {
      const seen = await list(page).evaluate((section) => {
        const top = section.getBoundingClientRect().top;
        const rows = [...section.querySelectorAll<HTMLElement>("[data-message]")];
        const first = rows.find((one) => one.getBoundingClientRect().bottom > top + 200);
        return { id: first?.dataset.message ?? "", top: first?.getBoundingClientRect().top ?? 0 };
      });
      await list(page).evaluate((section) => section.scrollBy(0, -150));
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      const now = await row(page, seen.id).evaluate((one) => one.getBoundingClientRect().top);
      expect(Math.abs(now - seen.top - 150), `turn ${turn}`).toBeLessThan(3);
    }
  });

  it("scrolls to both ends by keyboard, and unmounts distant rows", async () => {
    const page = await site.open("#/t/long");
    await row(page, `m${MANY - 1}`).waitFor();
    await page.keyboard.press("Home");
    await row(page, "m0").getByText("Question 0").waitFor();
    expect(await renderedRows(page)).toBeLessThan(40);
    await page.keyboard.press("End");
    await row(page, `m${MANY - 1}`).waitFor();
    expect(await row(page, "m0").count()).toBe(0);
  });

  it("loads the rows at any scroll position", async () => {
    const page = await site.open("#/t/long");
    await row(page, `m${MANY - 1}`).waitFor();
    for (const share of [0.8, 0.3, 0.55]) {
      await list(page).evaluate((section, to) => {
        section.scrollTop = section.scrollHeight * to;
      }, share);
      await expect
        .poll(() =>
          list(page).evaluate((section) => {
            const { top, bottom } = section.getBoundingClientRect();
            const seen = [...section.querySelectorAll<HTMLElement>("[data-index]")].filter((one) => {
              const box = one.getBoundingClientRect();
              return box.bottom > top && box.top < bottom;
            });
            return seen.length > 0 && seen.every((one) => one.dataset.message !== undefined);
          }),
        )
        .toBe(true);
    }
  });
});
