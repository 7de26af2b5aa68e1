/**
 * Measures how fast a conversation of 10,000 messages opens and scrolls, whether it leaks memory, and how a fast
 * stream is rendered. Prints tables. With `PARTITA_STRICT=1`, for an idle machine, slow results are failures.
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
const MAX_FRAMES = 2000;
const IS_STRICT = process.env.PARTITA_STRICT === "1";
/** Milliseconds. A longer frame means that at least one frame was dropped. */
const DROPPED_FRAME_MS = 34;

interface Recorded {
  readonly tasks: number[];
  readonly frames: number[];
}

/** Records every task over 50 ms and the duration of every frame. */
const startRecording = (page: Page) =>
  page.addInitScript(() => {
    const recorded: Recorded = { tasks: [], frames: [] };
    Object.assign(window, { recorded });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) recorded.tasks.push(Math.round(entry.duration));
    }).observe({ type: "longtask", buffered: true });
    let last = performance.now();
    const frame = (now: number) => {
      recorded.frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });

/** Returns what was recorded since the last call. */
const takeRecorded = (page: Page): Promise<Recorded> =>
  page.evaluate(() => {
    const { recorded } = window as unknown as { recorded: Recorded };
    return { tasks: recorded.tasks.splice(0), frames: recorded.frames.splice(0) };
  });

const longest = ({ tasks }: Recorded) => Math.max(0, ...tasks);
const dropped = ({ frames }: Recorded) => frames.filter((one) => one > DROPPED_FRAME_MS).length;

interface Traced {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The longest task of a page in milliseconds of CPU time, which other processes do not affect. */
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

/** The used heap in megabytes and the number of elements. */
async function memoryUse(page: Page): Promise<{ readonly heap: number; readonly nodes: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  return { heap: usedSize / 1e6, nodes };
}

/** Scrolls up by some pixels per frame until a number of rows has passed. */
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
    [rows, STEP, MAX_FRAMES] as const,
  );

async function openingTime(site: Site): Promise<number> {
  const page = await site.open("", { fresh: true });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  await page.goto("about:blank");
  const started = performance.now();
  await page.goto(`${site.address}/#/t/long`, { waitUntil: "commit" });
  // In every frame: a locator waits up to half a second between two looks.
  await page.waitForFunction(() =>
    document.querySelector('[data-message="m9999"]')?.checkVisibility({ visibilityProperty: true }),
  );
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const milliseconds = performance.now() - started;
  await site.closePages();
  return milliseconds;
}

const table = (title: string, rows: Readonly<Record<string, string | number>>) => {
  const [load = 0] = loadavg();
  const lines = Object.entries({ ...rows, "system load": load.toFixed(1) });
  console.log(
    [`| ${title} | |`, "|---|--:|", ...lines.map(([name, value]) => `| ${name} | ${value} |`)].join("\n"),
  );
};

describe("rendering", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await writeLong(storeIn(site.folder));
  });
  afterAll(() => site.stop());

  it("opens and scrolls 10,000 messages", async () => {
    const opened: number[] = [];
    for (let turn = 0; turn < OPENS; turn += 1) opened.push(await openingTime(site));
    const first = opened.toSorted((one, other) => one - other)[Math.floor(OPENS / 2)] ?? 0;
    const page = await site.open("", { fresh: true });
    await startRecording(page);
    await page.goto(`${site.address}/#/t/long`);
    await page.reload();
    await page.locator('[data-message="m9999"]').waitFor();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1000)));
    await scroll(page, 40);
    const before = await memoryUse(page);
    await takeRecorded(page);
    const work = await longestWork(page, () => scroll(page, ROWS));
    const recorded = await takeRecorded(page);
    const after = await memoryUse(page);
    table("10,000 messages", {
      "first view, ms (median of 5)": Math.round(first),
      [`longest task while ${ROWS} rows pass, ms`]: longest(recorded),
      "longest task in CPU time, ms": Math.round(work),
      "tasks over 50 ms": recorded.tasks.length,
      "frames, dropped frames": `${recorded.frames.length}, ${dropped(recorded)}`,
      "heap before → after, MB": `${before.heap.toFixed(1)} → ${after.heap.toFixed(1)}`,
      "elements before → after": `${before.nodes} → ${after.nodes}`,
    });
    await site.closePages();
    expect(after.heap - before.heap).toBeLessThan(12);
    if (!IS_STRICT) return;
    expect(first).toBeLessThan(1500);
    expect(longest(recorded)).toBeLessThan(50);
  });

  it("streams 200 chunks per second", async () => {
    const page = await site.open("", { fresh: true });
    await startRecording(page);
    await page.goto(`${site.address}/#/new`);
    await page.reload();
    await page.getByRole("heading", { name: "New chat" }).waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("flood");
    await page.keyboard.press("Enter");
    await page.locator('main article[data-role="assistant"] p').nth(1).waitFor();
    await takeRecorded(page);
    await page.locator("main article").getByText("26.38").waitFor({ timeout: 60_000 });
    const recorded = await takeRecorded(page);
    table("200 chunks per second", {
      "longest task, ms": longest(recorded),
      "tasks over 50 ms": recorded.tasks.length,
      "frames, dropped frames": `${recorded.frames.length}, ${dropped(recorded)}`,
    });
    if (IS_STRICT) expect(longest(recorded)).toBeLessThan(50);
  });
});
