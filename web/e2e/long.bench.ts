/** How fast a conversation of 10,000 messages opens and scrolls, and whether it keeps what it has let go of. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeLong } from "./setup/long";
import { type Site, serve } from "./setup/site";

const OPENS = 5;

interface Watched {
  readonly tasks: number[];
}

/** Notes every task that blocks the page for more than 50 ms. */
const watch = (page: Page) =>
  page.addInitScript(() => {
    const tasks: number[] = [];
    (window as unknown as { watched: Watched }).watched = { tasks };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(Math.round(entry.duration));
    }).observe({ type: "longtask", buffered: true });
  });

const longest = (page: Page) =>
  page.evaluate(() => Math.max(0, ...(window as unknown as { watched: Watched }).watched.tasks.splice(0)));

const heap = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  return usedSize / 1e6;
};

/** Scrolls as a wheel does: so many pixels in each frame, for so many frames. */
const run = (page: Page, by: number, frames: number) =>
  page.getByRole("region", { name: "Messages" }).evaluate(
    (section, [step, count]) =>
      new Promise<void>((done) => {
        let left = count;
        section.dispatchEvent(new WheelEvent("wheel", { deltaY: step }));
        const move = () => {
          section.scrollBy(0, step);
          left -= 1;
          if (left > 0) requestAnimationFrame(move);
          else done();
        };
        requestAnimationFrame(move);
      }),
    [by, frames] as const,
  );

describe("10,000 messages", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await writeLong(site);
  });
  afterAll(() => site.stop());

  it("are measured", async () => {
    const opened: number[] = [];
    for (let turn = 0; turn < OPENS; turn += 1) {
      const page = await site.open("");
      await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
      await page.goto("about:blank");
      const began = performance.now();
      await page.goto(`${site.address}/#/t/long`, { waitUntil: "commit" });
      await page.locator('[data-message="m9999"]').waitFor();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      opened.push(performance.now() - began);
      await site.closePages();
    }
    const page = await site.open("");
    await watch(page);
    await page.goto(`${site.address}/#/t/long`);
    await page.reload();
    await page.locator('[data-message="m9999"]').waitFor();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1000)));
    await longest(page);
    await run(page, -60, 120);
    const before = await heap(page);
    await longest(page);
    await run(page, -90, 600);
    const scrolling = await longest(page);
    const after = await heap(page);
    const median = opened.toSorted((one, other) => one - other)[Math.floor(OPENS / 2)] ?? 0;
    console.log(
      `| 10,000 messages | first view ${Math.round(median)} ms | longest task while scrolling ${scrolling} ms | heap ${before.toFixed(1)} → ${after.toFixed(1)} MB |`,
    );
    expect(median).toBeLessThan(1500);
    expect(scrolling).toBeLessThan(50);
    expect(after - before).toBeLessThan(12);
  });
});
