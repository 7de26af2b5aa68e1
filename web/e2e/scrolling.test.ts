/** Where a session opens, and what moves when something is expanded or arrives. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { rendering } from "./setup/rendering";
import { assistantRecord, importRecords, type SessionRecord, userRecord } from "./setup/session";
import { type Site, serve } from "./setup/site";

const SESSION = "5c011000-0000-4000-8000-000000000001";
const GROWING = "5c011000-0000-4000-8000-000000000002";

const output = (number: number) =>
  Array.from({ length: 40 }, (_, line) => `step ${number}, line ${line} of the output`).join("\n");

/** A call with its result, and sometimes a text before it, as agents write them. */
function step(number: number): readonly SessionRecord[] {
  const words = `I look at part ${number}. `.repeat(1 + ((number * 7) % 23));
  const command = {
    type: "tool_use",
    id: `c${number}`,
    name: "Bash",
    input: { command: `measure ${number}` },
  };
  return [
    ...(number % 3 ? [] : [assistantRecord(`m${number}`, { type: "text", text: words })]),
    assistantRecord(`m${number}`, command),
    userRecord([{ type: "tool_result", tool_use_id: `c${number}`, content: output(number) }]),
  ];
}

const steps = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => step(from + index)).flat();

const records = (turns: number): readonly SessionRecord[] =>
  Array.from({ length: turns }, (_, turn) => [
    userRecord(`Question ${turn}: measure the tower again.`),
    ...steps(turn * 12, turn * 12 + 12),
    assistantRecord(`end${turn}`, { type: "text", text: `Result ${turn}: it is ${turn} metres high.` }),
  ]).flat();

const list = (page: Page) => page.getByRole("region", { name: "Messages" });
const heads = (page: Page) => list(page).locator("[aria-expanded]");

const scrollTo = (page: Page, share: number) =>
  list(page).evaluate(async (section, to) => {
    section.scrollTop = (section.scrollHeight - section.clientHeight) * to;
    for (let frame = 0; frame < 30; frame += 1) await new Promise(requestAnimationFrame);
  }, share);

/** Marks the last visible line of a card or group. */
const markLastLine = (page: Page) =>
  list(page).evaluate((section) => {
    const area = section.getBoundingClientRect();
    const found = [...section.querySelectorAll<HTMLElement>("[aria-expanded]")];
    const head = found.findLast((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= area.top && bottom <= area.bottom;
    });
    if (!head) throw new Error("No line is visible");
    head.id = "marked";
  });

/** Clicks the marked line, and returns how far it has moved when everything is still. */
const clickMarked = (page: Page) =>
  page.evaluate(async () => {
    const head = document.getElementById("marked");
    if (!head) throw new Error("The line is gone");
    const before = head.getBoundingClientRect().top;
    head.click();
    for (let frame = 0; frame < 40; frame += 1) await new Promise(requestAnimationFrame);
    return { moved: head.getBoundingClientRect().top - before, isOpen: head.ariaExpanded === "true" };
  });

describe("the list of messages", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await importRecords(site, SESSION, records(5));
    await importRecords(site, GROWING, records(3));
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("opens an ended session at its start, without moving what is displayed", async () => {
    const page = await site.open(`#/t/${SESSION}`);
    await list(page).getByText("Question 0: measure the tower again.").waitFor();
    await page.waitForTimeout(700);
    expect(await list(page).evaluate((section) => section.scrollTop)).toBe(0);
    expect((await rendering(page)).shift).toBeLessThan(0.05);
  });

  it("opens a chat at its end", async () => {
    const messages = Array.from({ length: 40 }, (_, n) => ({
      id: `u${n}`,
      role: "user",
      content: [{ type: "text", text: `Line ${n}\n\nand more` }],
    }));
    await site.seed([{ thread: { id: "chat", agent: "demo" }, messages }]);
    const page = await site.open("#/t/chat");
    await list(page).getByText("Line 39").waitFor();
  });

  it.each([
    ["card", "everything", 0],
    ["card", "everything", 0.6],
    ["card", "everything", 1],
    ["group", "normal", 0.3],
    ["group", "normal", 1],
  ])("leaves a %s where it is clicked, in %s at %f of the session", async (_, detail, share) => {
    const page = await site.open(`#/t/${SESSION}`, { preferences: { detail } });
    await list(page).getByText("Question 0: measure the tower again.").waitFor();
    await scrollTo(page, share);
    await heads(page).first().waitFor();
    await markLastLine(page);
    for (const isOpen of [true, false]) {
      const result = await clickMarked(page);
      expect(result.isOpen).toBe(isOpen);
      expect(Math.abs(result.moved), isOpen ? "expanded" : "collapsed").toBeLessThanOrEqual(2);
    }
  });

  it("leaves what is displayed where it is while the session grows, and follows the end only at the end", async () => {
    const page = await site.open(`#/t/${GROWING}`);
    await list(page).getByText("Question 0: measure the tower again.").waitFor();
    await scrollTo(page, 1);
    await list(page).getByText("Result 2").waitFor();
    const grow = async (turn: number) => {
      await importRecords(site, GROWING, records(turn + 1));
      await expect.poll(() => list(page).evaluate((section) => section.scrollHeight)).toBeGreaterThan(0);
      await page.waitForTimeout(900);
    };
    await grow(3);
    await list(page).getByText("Result 3").waitFor();
    await markLastLine(page);
    expect(Math.abs((await clickMarked(page)).moved)).toBeLessThanOrEqual(2);
    const top = () => page.locator("#marked").boundingBox();
    const before = await top();
    await grow(4);
    expect(await top()).toEqual(before);
    await page.getByRole("button", { name: "Scroll to the end" }).click();
    await list(page).getByText("Result 4").waitFor();
  });
});
