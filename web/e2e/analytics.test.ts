import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violations, violationsInBoth } from "./setup/axe";
import { rendering } from "./setup/rendering";
import { python, type Site, serve } from "./setup/site";

/** Three sessions in March 2026, and one in February for the comparison with the previous period. */
const FILL = `
import asyncio, sys
from datetime import UTC, datetime, timedelta
from partita.store.connection import open_store
from partita.store.values import ConsumptionRecord
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita import ErrorTextOutput, TextOutput

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 2, 12, tzinfo=UTC)

def call(id, tool, bad=False):
    output = ErrorTextOutput("gone") if bad else TextOutput("done")
    return ToolCallPart(id, tool, "output-error" if bad else "output-available", {}, output=output)

async def session(store, id, title, agent, project, at, answers):
    await store.threads.create(id, title=title, agent=agent, project=project)
    messages, records = [UserMessage(id=f"{id}-q", content="Go on.", created_at=at)], []
    for number, (model, given, cached, out, thought, cost, calls) in enumerate(answers):
        moment = at + timedelta(minutes=number)
        messages.append(AssistantMessage(id=f"{id}-{number}", content=calls or "Well.", created_at=moment))
        records.append(ConsumptionRecord(thread_id=id, key=f"{id}-{number}", message_id=f"{id}-{number}",
            run_id=f"run-{id}", model=model, time=moment, input_tokens=given, cached_input_tokens=cached,
            output_tokens=out, reasoning_tokens=thought, cost=cost))
    await store.messages.save(messages, thread_id=id)
    await store.usage.record(records)
    await store.runs.open(id, id=f"run-{id}", model=answers[0][0])
    await store.runs.finish(f"run-{id}")
    def times(tx):
        begun = tx.instant(at), tx.instant(at), tx.instant(at + timedelta(seconds=90))
        tx.sql("UPDATE runs SET created_at = ?, started_at = ?, finished_at = ? WHERE id = ?", (*begun, f"run-{id}"))
        tx.sql("UPDATE parts SET started_at = ?, ended_at = ? WHERE tool_name = 'read'",
            (tx.instant(at), tx.instant(at + timedelta(seconds=2))))
    await store.write(times)

async def main():
    async with open_store(sys.argv[1]) as store:
        await session(store, "lamp", "Mend the lamp", "keeper", "/tower", MARCH, [
            ("large", 1000, 500, 100, 40, 1.0, [call("c1", "read"), call("c2", "run", True)]),
            ("large", 9000, 500, 100, 10, 2.0, None),
            ("large", 3000, 500, 100, 0, 0.5, None),
        ])
        await session(store, "boat", "Paint the boat", "sailor", "/harbour", MARCH + DAY, [
            ("small", 2000, 0, 200, 0, 0.25, [call("c3", "read")]),
        ])
        await session(store, "bell", "=HYPERLINK(1), \\"bell\\"", "keeper", "=harbour,\\u202e2", MARCH + DAY, [
            ("small", 5000, 1000, 500, 50, 0.25, None),
        ])
        await session(store, "old", "Long ago", "keeper", "/tower", MARCH - 7 * DAY, [
            ("large", 1000, 0, 100, 0, 2.0, None),
        ])

        await store.threads.create("undated")
        await store.messages.save([UserMessage(id="u", content="When?")], thread_id="undated")

asyncio.run(main())
`;

const MARCH = "#/analytics?from=2026-03-01&to=2026-03-07";
const ALL_OF_THEM = ["lamp", "boat", "bell"];

const idsIn = (link: string | null): string[] =>
  (new URLSearchParams((link ?? "").split("?")[1]).get("ids") ?? "").split(",").filter(Boolean).sort();

const figure = (page: Page, name: string): Locator => page.getByRole("figure", { name });
const row = (page: Page, card: string, name: string): Locator =>
  page.getByRole("region", { name: card, exact: true }).getByRole("row").filter({ hasText: name });
const headline = (page: Page, label: string): Locator =>
  page.locator("dl > div").filter({ has: page.getByText(label, { exact: true }) });

/** The sections of the tables. */
const SECTIONS: Readonly<Record<string, string>> = {
  "By session": "sessions",
  "By turn": "turns",
  "By model": "models",
  "By project": "projects",
  "By agent": "projects",
  "By tool": "tools",
};

async function saved(page: Page, button: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  const path = join(mkdtempSync(join(tmpdir(), "partita-saved-")), "file");
  await download.saveAs(path);
  const bytes = readFileSync(path);
  rmSync(join(path, ".."), { recursive: true });
  return bytes;
}

/** Expects a PNG of twice the size of the chart that is not empty. */
function expectPng(png: Buffer, width: number): void {
  expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  expect(png.readUInt32BE(16)).toBeGreaterThan(width);
  expect(png.readUInt32BE(20)).toBeGreaterThan(400);
  expect(png.length).toBeGreaterThan(5_000); // an empty picture is smaller
}

describe("analytics", () => {
  let site: Site;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "partita-analytics-"));
    await python(FILL, `sqlite:///${join(folder, "store.db")}`);
    site = await serve({ folder });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(async () => {
    await site.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (hash: string, options = {}): Promise<Page> => {
    const page = await site.open(hash, options);
    await figure(page, "Sessions over time").waitFor();
    await headline(page, "Cost").getByRole("link").waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    return page;
  };

  /** Opens the page and renders what is below the window. */
  const openAll = async (hash: string, options = {}): Promise<Page> => {
    const page = await open(hash, options);
    await renderAll(page);
    return page;
  };

  const renderAll = async (page: Page): Promise<void> => {
    for (const name of ["By session", "By turn", "By model", "By project", "By agent", "By tool"]) {
      const card = page.getByRole("region", { name, exact: true });
      await page.locator(`[data-section="${SECTIONS[name]}"]`).scrollIntoViewIfNeeded();
      await card.getByRole("table").waitFor();
    }
    await page.locator("#main").evaluate((main) => main.scrollTo(0, 0));
  };

  it("shows the totals, and the change from the previous period", async () => {
    const page = await openAll(MARCH);
    const shown = Object.fromEntries(
      await page
        .locator("dl > div")
        .evaluateAll((cards) =>
          cards.map((card) => [card.querySelector("dt")?.textContent, card.querySelector("a")?.textContent]),
        ),
    );
    expect(shown).toEqual({
      Cost: "$4.00",
      Tokens: "21K",
      Sessions: "3",
      "Active time": "4 min 30 s",
      Turns: "3",
      Messages: "8",
      "Tool calls": "3",
      "Failed calls": "1",
      Cached: "2.5K",
      Reasoning: "100",
    });
    await headline(page, "Cost").getByText("+100%").waitFor();
    await headline(page, "Tokens").getByText("from 1.1K").waitFor(); // not a percentage of close to nothing
    await headline(page, "Failed calls").getByText("new").waitFor();
    await headline(page, "Reasoning").getByText("10% of output").waitFor();
    expect(await row(page, "By tool", "read").getByRole("cell").allTextContents()).toEqual([
      ...["2", "0", "0%", "0", "0", "2 s", "2 s", "2 s", "4 s", "2"],
    ]);
    expect(await row(page, "By model", "large").getByRole("cell").allTextContents()).toEqual([
      ...["$3.50", "1", "3", "13K", "300", "12%", "17%", "$3.50", "3.3", "2", "50%", "0%"],
    ]);
    expect(await row(page, "By session", "Mend the lamp").getByRole("cell").allTextContents()).toEqual([
      ...["tower", "$3.50", "13.3K", "1 min 30 s", "1", "4", "2", "1", "50%"],
    ]);
    expect(await row(page, "By turn", "Mend the lamp").getByRole("cell").allTextContents()).toEqual([
      ...["Mend the lamp", "$3.50", "13.3K", "1 min 30 s", "large", "2 Mar 2026, 12:00"],
    ]);
  });

  it("links every number to its sessions", async () => {
    const page = await openAll(MARCH);
    expect(idsIn(await headline(page, "Sessions").getByRole("link").getAttribute("href"))).toEqual(
      [...ALL_OF_THEM].sort(),
    );
    expect(idsIn(await headline(page, "Failed calls").getByRole("link").getAttribute("href"))).toEqual([
      "lamp",
    ]);
    for (const card of ["By model", "By agent", "By project", "By tool"]) {
      const region = page.getByRole("region", { name: card, exact: true });
      const heads = await region.getByRole("columnheader").allTextContents();
      for (const line of (await region.getByRole("row").all()).slice(1)) {
        const cell = line.locator("th, td").nth(heads.indexOf("Sessions"));
        const ids = idsIn(await cell.getByRole("link").getAttribute("href"));
        expect(ids.length).toBe(Number(await cell.textContent()));
        const listed = await site.api<{ items: { id: string }[] }>("GET", `api/threads?ids=${ids.join(",")}`);
        expect(listed.items.map(({ id }) => id).sort()).toEqual(ids);
      }
    }
    const project = row(page, "By project", "tower").getByRole("link", { name: "$3.50" });
    expect(await project.getAttribute("href")).toBe("#/sessions?project=%2Ftower&ids=lamp");
    const turn = row(page, "By turn", "Mend the lamp").getByRole("rowheader").getByRole("link");
    expect(await turn.getAttribute("href")).toMatch(/^#\/t\/lamp/);
    const tool = row(page, "By tool", "run").getByRole("link", { name: "100%" });
    expect(await tool.getAttribute("href")).toBe("#/sessions?tool=run&ids=lamp&errors=1");
    const column = figure(page, "Cost over time").getByRole("link", { name: "3 Mar 2026: small $0.50" });
    expect(idsIn(await column.getAttribute("href"))).toEqual(["bell", "boat"]);
    await column.press("Enter");
    await page.waitForURL(/#\/sessions\?ids=/);
    const listed = page.locator("[data-thread]");
    await listed.nth(1).waitFor();
    const names = await listed.evaluateAll((rows) => rows.map((row) => row.getAttribute("data-thread")));
    expect(names.sort()).toEqual(["bell", "boat"]);
  });

  it("shows a chart as a table, and downloads its data", async () => {
    const page = await open(`${MARCH}&split=project`);
    await page.getByRole("button", { name: "Cost over time: table" }).click();
    const table = page.getByRole("region", { name: "Cost over time" }).getByRole("table");
    const seen = await table.getByRole("row").allTextContents();
    expect(seen[2]).toBe("2026-03-02$3.50$0$0$3.50");
    const text = (await saved(page, "Cost over time: save as CSV")).toString("utf8");
    expect(text.split("\r\n")).toEqual([
      `Day,/tower,"'=harbour,⟦U+202E⟧2",/harbour,Total`,
      "2026-03-01,0,0,0,0",
      "2026-03-02,3.5,0,0,3.5",
      "2026-03-03,0,0.25,0.25,0.5",
      "2026-03-04,0,0,0,0",
      "2026-03-05,0,0,0,0",
      "2026-03-06,0,0,0,0",
      "2026-03-07,0,0,0,0",
      "",
    ]);
  });

  it("can be navigated by keyboard, and sorted", async () => {
    const page = await openAll(MARCH);
    const chart = figure(page, "Tokens over time");
    await chart.getByRole("button", { name: "Tokens over time: save as PNG" }).focus();
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(await focused()).toBe("2 Mar 2026: large 13.3K");
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("3 Mar 2026: small 7.7K");
    await page.keyboard.press("Home");
    expect(await focused()).toBe("2 Mar 2026: large 13.3K");
    await page.keyboard.press("Tab"); // one stop for the whole chart
    expect(await focused()).toBe("Sessions over time: table");
    const region = page.getByRole("region", { name: "By project", exact: true });
    const first = () => region.getByRole("rowheader").first().textContent();
    expect(await first()).toBe("tower");
    await region.getByRole("button", { name: "Tokens out" }).click();
    expect(await first()).toBe("=harbour,⟦U+202E⟧2");
    await region.getByRole("button", { name: "Tokens out" }).click();
    expect(await first()).toBe("harbour");
  });

  it("shows the sessions of each day of a year as a heatmap", async () => {
    const page = await open(MARCH);
    const days = figure(page, "Sessions by day");
    await days.getByText("Active on 3 days. Most: 2 sessions (3 Mar 2026).").waitFor();
    const third = days.getByRole("link", { name: "3 Mar 2026: 2 sessions" });
    expect(idsIn(await third.getAttribute("href"))).toEqual(["bell", "boat"]);
    expect(await days.locator("li").count()).toBe(52 * 7 + 6); // a year of weeks, until Saturday
    await days.getByRole("button", { name: "Sessions by day: save as PNG" }).focus();
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(await focused()).toBe("3 Mar 2026: 2 sessions");
    await days.getByText("2 sessions", { exact: true }).waitFor(); // the tooltip
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toBe("2 Mar 2026: 1 session");
    await page.keyboard.press("ArrowLeft");
    expect(await focused()).toBe("23 Feb 2026: 1 session");
    await page.keyboard.press("Home");
    expect(await focused()).toBe("3 Mar 2025: no sessions");
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(() => days.locator("li").count()).toBeLessThan(30 * 7);
    expect(await days.locator("li").first().getByRole("button").getAttribute("aria-label")).toMatch(/2025/);
    await days.getByRole("button", { name: "Sessions by day: table" }).click();
    expect(await days.getByRole("row").allTextContents()).toEqual([
      "DaySessionsMessages",
      "2026-02-2312",
      "2026-03-0214",
      "2026-03-0324",
    ]);
  });

  it("shows the messages of each hour of the week as a heatmap", async () => {
    const page = await open(MARCH);
    const hours = figure(page, "Messages by hour");
    await hours.getByText("Most: 4 messages (Monday, 12:00).").waitFor();
    expect(await hours.locator("li").count()).toBe(7 * 24);
    const tuesday = hours.getByRole("link", { name: "Tuesday, 12:00: 4 messages, 2 sessions" });
    expect(idsIn(await tuesday.getAttribute("href"))).toEqual(["bell", "boat"]);
  });

  it("shows the costs of projects and sessions as a map, into which one can zoom", async () => {
    const page = await open("#/analytics?from=2026-02-20&to=2026-03-07");
    const map = figure(page, "Map of costs");
    await map.getByText("$6.00 in 3 projects. Largest: tower (92%).").waitFor();
    const names = () =>
      map.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    expect((await names()).slice(0, 3)).toEqual([
      "tower: $5.50. Zoom in",
      "Mend the lamp: $3.50. Open the session",
      "Long ago: $2.00. Open the session",
    ]);
    await map.getByRole("button", { name: "Map of costs: save as PNG" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("href"));
    expect(await focused()).toBe("#/t/lamp");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("navigation", { name: "Zoom" }).getByText("tower").waitFor();
    await expect
      .poll(names)
      .toEqual(["Mend the lamp: $3.50. Open the session", "Long ago: $2.00. Open the session"]);
    const list = page.getByRole("link", { name: "List of sessions" });
    expect(await list.getAttribute("href")).toMatch(/^#\/sessions\?.*project=%2Ftower/);
    expectPng(await saved(page, "Map of costs: save as PNG"), 600);
    await page.getByRole("link", { name: "All projects" }).click();
    await map.getByRole("link", { name: "tower: $5.50. Zoom in" }).waitFor();
    await map.getByRole("link", { name: /^Mend the lamp/ }).click();
    await page.waitForURL(/#\/t\/lamp/);
  });

  it("has the same colours in all charts and tables", async () => {
    const page = await openAll(`${MARCH}&split=project`);
    const legend = page.getByRole("list", { name: "Legend of trends" });
    const colours = (rows: Locator) =>
      rows.evaluateAll((all) =>
        Object.fromEntries(
          all.map((one) => [one.textContent, one.querySelector("rect")?.getAttribute("fill")]),
        ),
      );
    const expected = await colours(legend.locator("li"));
    expect(expected).toMatchObject({ tower: "var(--series-1)" });
    const heads = page.getByRole("region", { name: "By project", exact: true }).getByRole("rowheader");
    expect(await colours(heads)).toEqual(expected);
    const cells = row(page, "By session", "Paint the boat").getByRole("cell").first();
    expect(await colours(cells)).toEqual({ harbour: expected.harbour });
    const map = figure(page, "Map of costs").locator("svg[role=img] rect").nth(1);
    const [swatch] = await legend
      .locator("rect")
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).fill));
    expect(await map.evaluate((one) => getComputedStyle(one).fill)).toBe(swatch);
  });

  it("scrolls to a section and marks it", async () => {
    const page = await site.open(`${MARCH}&thread=lamp&chart=growth`);
    const section = page.locator("[data-section=growth]");
    await figure(page, "Context by response").getByText("3 responses").waitFor();
    const top = async () => Math.round((await section.boundingBox())?.y ?? -1);
    await expect.poll(top).toBeLessThan(200);
    expect(await top()).toBeGreaterThan(60); // below the bar with the filters
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Context growth");
    expect(await section.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe("solid");
    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Tools");
    const tools = page.getByRole("region", { name: "By tool", exact: true });
    await tools.getByRole("table").waitFor();
    await expect.poll(async () => (await tools.boundingBox())?.y).toBeLessThan(800);
  });

  it("leads to the context growth from a session", async () => {
    const page = await site.open("#/t/lamp");
    await page.getByText("Go on.").first().waitFor();
    await page.locator("#main header").getByRole("button", { name: "More", exact: true }).last().click();
    await page.getByRole("menuitem", { name: "Context growth" }).click();
    await page.waitForURL(/#\/analytics\?thread=lamp&chart=growth/);
    await figure(page, "Context by response").getByText("3 responses").waitFor();
  });

  it("shows the totals before slow numbers, and nothing moves when these come", async () => {
    const page = await site.open("#/convert");
    const held: (() => void)[] = [];
    await page.route(/api\/stats\/|by=model|by=project|by=hour/, async (route) => {
      await new Promise<void>((go) => held.push(go));
      await route.continue();
    });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, MARCH);
    await headline(page, "Cost").getByRole("link", { name: "$4.00" }).waitFor();
    const tops = () =>
      page
        .locator("[data-section]")
        .evaluateAll((all) => all.slice(0, 6).map((one) => one.getBoundingClientRect().top));
    const before = await tops();
    for (const go of held) go();
    held.push = (...more) => {
      for (const go of more) go();
      return 0;
    };
    await figure(page, "Map of costs").getByText("$4.00 in 3 projects").waitFor();
    await figure(page, "Context by response").waitFor();
    await figure(page, "Cost over time").getByText("Total: $4.00").waitFor();
    expect(await tops()).toEqual(before);
  });

  it.each([1440, 1280, 1024, 768, 390])("has no overlaps and no shifts at %d px", async (width) => {
    const page = await open(MARCH, { viewport: { width, height: 900 } });
    expect((await rendering(page)).shift).toBeLessThan(0.05);
    await renderAll(page);
    const cards = await page
      .locator("#main")
      .locator("figure, section[aria-busy], dl > div")
      .evaluateAll((all) =>
        all.map((one) => [one.textContent?.slice(0, 20), one.getBoundingClientRect()] as const),
      );
    expect(cards.length).toBeGreaterThan(22);
    const overlapping = cards.flatMap(([name, a], index) =>
      cards
        .slice(index + 1)
        .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map(([other]) => `${name} / ${other}`),
    );
    expect(overlapping).toEqual([]);
    const outside = cards.filter(([, { left, right }]) => left < 0 || right > width).map(([name]) => name);
    expect(outside).toEqual([]);
    const filters = await page
      .getByRole("form", { name: "Filters" })
      .locator("select")
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    expect(new Set(filters).size).toBe(1); // one line
    await page.locator("#main").evaluate((main) => main.scrollTo(0, 2000));
    await expect
      .poll(async () => (await page.getByRole("form", { name: "Filters" }).boundingBox())?.y)
      .toBeLessThan(60);
  });

  it("starts all time with the first session, also if the time of others is unknown", async () => {
    const page = await open("#/analytics?range=all");
    await figure(page, "Cost over time")
      .getByText(/Total: \$6\.00\. Peak: \$4\.00/)
      .waitFor();
  });

  it("keeps filters in the address", async () => {
    const page = await open(MARCH);
    await page.getByRole("combobox", { name: "Agent" }).selectOption("keeper");
    await page.getByRole("button", { name: "Weeks" }).click();
    await headline(page, "Sessions").getByRole("link", { name: "2" }).waitFor();
    await page.reload();
    await headline(page, "Sessions").getByRole("link", { name: "2" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("keeper");
    expect(await page.getByRole("button", { name: "Weeks" }).getAttribute("aria-pressed")).toBe("true");
    expect(await page.evaluate(() => location.hash)).toBe(
      "#/analytics?from=2026-03-01&to=2026-03-07&agent=keeper&step=week",
    );
    await page.goBack();
    await headline(page, "Sessions").getByRole("link", { name: "3" }).waitFor();
  });

  it("shows the context growth of a session, and where the context was compacted", async () => {
    const page = await open(`${MARCH}&thread=lamp`);
    const chart = figure(page, "Context by response");
    await chart.getByText("3 responses, at most 9K tokens of context; compacted 1 time").waitFor();
    const point = chart.getByRole("link", { name: /^Compacted: response 3.*Input 3,000, Cached 17%/ });
    expect(await point.getAttribute("href")).toBe("#/t/lamp?m=lamp-2");
    const [head, ...lines] = (await saved(page, "Context by response: save as CSV"))
      .toString("utf8")
      .split("\r\n");
    expect(head).toContain("Time,Input,Cached,Output,Reasoning,Cost,Total tokens,Total cost");
    expect(lines.map((line) => line.split(",").slice(1, 8).join(" "))).toEqual([
      "1000 500 100 40 1 1100 1",
      "9000 500 100 10 2 10200 3",
      "3000 500 100 0 0.5 13300 3.5",
      "",
    ]);
  });

  it("shows all time if nothing happened in the period that is the default", async () => {
    const page = await site.open("#/convert");
    await page.clock.setFixedTime(Date.now() + 90 * 86_400_000);
    await page.getByRole("link", { name: "Analytics" }).click();
    await headline(page, "Sessions").getByRole("link", { name: "5" }).waitFor();
    expect(await page.evaluate(() => location.hash)).toBe("#/analytics?range=all");
  });

  it("shows an empty state", async () => {
    const page = await site.open("#/analytics?from=2020-01-01&to=2020-01-02");
    await page.getByText("No data in this period").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("link", { name: "Show all time" }).click();
    await headline(page, "Sessions").getByRole("link", { name: "5" }).waitFor();
  });

  it.each([
    [1440, violationsInBoth],
    [1024, violationsInBoth],
    [390, violationsInBoth],
  ] as const)("has no accessibility violations, and downloads images, at %d px", async (width, found) => {
    const page = await openAll(MARCH, { viewport: { width, height: 800 } });
    expectPng(await saved(page, "Tokens over time: save as PNG"), width > 1000 ? 400 : 300);
    await page.getByRole("button", { name: "Sessions over time: table" }).click();
    expect(await found(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html[data-theme=dark]").waitFor();
    expectPng(await saved(page, "Tokens over time: save as PNG"), width > 1000 ? 400 : 300);
    const [needed, given] = await page.locator("#main").evaluate((it) => [it.scrollWidth, it.clientWidth]);
    expect(needed).toBe(given);
  });
});
