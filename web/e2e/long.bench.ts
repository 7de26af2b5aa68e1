/**
 * How fast a conversation of 10,000 messages opens and scrolls, whether it keeps what it has let go of, and how a
 * flood of words is drawn. It is told in a table; with `PARTITA_STRICT=1`, for a machine that does nothing else,
 * what is too slow is a failure.
 */
import { loadavg } from "node:os";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeLong } from "./setup/long";
import { browser } from "./setup/pages";
import { type Site, serve, storeIn } from "./setup/site";

const OPENS = 5;
const ROWS = 300;
const STEP = 90;
const MOST_FRAMES = 2000;
const IS_STRICT = process.env.PARTITA_STRICT === "1";
/** A frame that took so many milliseconds came after another one should have. */
const DROPPED = 34;

interface Seen {
  readonly tasks: number[];
  readonly frames: number[];
}

/** Notes every task that blocks the page for more than 50 ms, and how long each frame took. */
const watch = (page: Page) =>
  page.addInitScript(() => {
    const seen: Seen = { tasks: [], frames: [] };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.tasks.push(Math.round(entry.duration));
    }).observe({ type: "longtask", buffered: true });
    let last = performance.now();
    const frame = (now: number) => {
      seen.frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });

/** What was noted since it was asked last. */
const since = (page: Page): Promise<Seen> =>
  page.evaluate(() => {
    const { seen } = window as unknown as { seen: Seen };
    return { tasks: seen.tasks.splice(0), frames: seen.frames.splice(0) };
  });

const longest = ({ tasks }: Seen) => Math.max(0, ...tasks);
const dropped = ({ frames }: Seen) => frames.filter((one) => one > DROPPED).length;

interface Traced {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The longest task of a page in milliseconds of its processor: what else the machine does is not in it. */
async function longestWork(page: Page, work: () => Promise<void>): Promise<number> {
  const traced = await browser();
  await traced.startTracing(page, { categories: ["toplevel"] });
  await work();
  const { traceEvents } = JSON.parse(String(await traced.stopTracing())) as { traceEvents: Traced[] };
  const threadOf = ({ pid, tid }: Traced) => `${pid} ${tid}`;
  const main = new Set(traceEvents.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = traceEvents.filter((one) => one.name.endsWith("RunTask") && main.has(threadOf(one)));
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
}

/** Megabytes of the heap that are in use, and elements that are drawn. */
async function kept(page: Page): Promise<{ readonly heap: number; readonly nodes: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  return { heap: usedSize / 1e6, nodes };
}

/** Scrolls up as a wheel does, so many pixels in each frame, until so many rows have gone by. */
const scroll = (page: Page, rows: number) =>
  page.getByRole("region", { name: "Messages" }).evaluate(
    (section, [count, step, most]) =>
      new Promise<void>((done) => {
        const top = () => Number(section.querySelector<HTMLElement>("[data-index]")?.dataset.index ?? 0);
        const goal = top() - count;
        let left = most;
        section.dispatchEvent(new WheelEvent("wheel", { deltaY: -step }));
        const move = () => {
          section.scrollBy(0, -step);
          left -= 1;
          if (left > 0 && top() > goal) requestAnimationFrame(move);
          else done();
        };
        requestAnimationFrame(move);
      }),
    [rows, STEP, MOST_FRAMES] as const,
  );

async function opens(site: Site): Promise<number> {
  const page = await site.open("", { fresh: true });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  await page.goto("about:blank");
  const began = performance.now();
  await page.goto(`${site.address}/#/t/long`, { waitUntil: "commit" });
  await page.locator('[data-message="m9999"]').waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const took = performance.now() - began;
  await site.closePages();
  return took;
}

const table = (title: string, rows: Readonly<Record<string, string | number>>) => {
  const [load = 0] = loadavg();
  const lines = Object.entries({ ...rows, "load of the machine": load.toFixed(1) });
  console.log(
    [`| ${title} | |`, "|---|--:|", ...lines.map(([name, value]) => `| ${name} | ${value} |`)].join("\n"),
  );
};

describe("what is drawn", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await writeLong(storeIn(site.folder));
  });
  afterAll(() => site.stop());

  it("of 10,000 messages", async () => {
    const opened: number[] = [];
    for (let turn = 0; turn < OPENS; turn += 1) opened.push(await opens(site));
    const first = opened.toSorted((one, other) => one - other)[Math.floor(OPENS / 2)] ?? 0;
    const page = await site.open("", { fresh: true });
    await watch(page);
    await page.goto(`${site.address}/#/t/long`);
    await page.reload();
    await page.locator('[data-message="m9999"]').waitFor();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1000)));
    await scroll(page, 40);
    const before = await kept(page);
    await since(page);
    const work = await longestWork(page, () => scroll(page, ROWS));
    const seen = await since(page);
    const after = await kept(page);
    table("10,000 messages", {
      "first view, ms (median of 5)": Math.round(first),
      [`longest task while ${ROWS} rows go by, ms`]: longest(seen),
      "of its processor's time, ms": Math.round(work),
      "tasks over 50 ms": seen.tasks.length,
      "frames, and of these dropped": `${seen.frames.length}, ${dropped(seen)}`,
      "heap before → after, MB": `${before.heap.toFixed(1)} → ${after.heap.toFixed(1)}`,
      "elements before → after": `${before.nodes} → ${after.nodes}`,
    });
    await site.closePages();
    expect(after.heap - before.heap).toBeLessThan(12);
    if (!IS_STRICT) return;
    expect(first).toBeLessThan(1500);
    expect(longest(seen)).toBeLessThan(50);
  });

  it("of 200 chunks a second", async () => {
    const page = await site.open("", { fresh: true });
    await watch(page);
    await page.goto(`${site.address}/#/new`);
    await page.reload();
    await page.getByRole("heading", { name: "New chat" }).waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("flood");
    await page.keyboard.press("Enter");
    await page.locator('main article[data-role="assistant"] p').nth(1).waitFor();
    await since(page);
    await page.locator("main article").getByText("26.38").waitFor({ timeout: 60_000 });
    const seen = await since(page);
    table("a flood of 200 chunks a second", {
      "longest task, ms": longest(seen),
      "tasks over 50 ms": seen.tasks.length,
      "frames, and of these dropped": `${seen.frames.length}, ${dropped(seen)}`,
    });
    if (IS_STRICT) expect(longest(seen)).toBeLessThan(50);
  });
});
