import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importBreadSession, runsOf } from "./setup/session";
import { type Site, serve } from "./setup/site";

const QUESTION = { id: "u", role: "user", parts: [{ type: "text", text: "What is the weather in Oslo?" }] };

async function chat(site: Site, thread: string, trigger?: string): Promise<void> {
  const response = await fetch(new URL("api/chat", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: thread, messages: [QUESTION], ...(trigger ? { trigger } : {}) }),
  });
  await response.text();
}

describe("a comparison", () => {
  let site: Site;
  let first: string;
  let second: string;
  const compare = (a: string, b?: string) =>
    `#/compare?a=${encodeURIComponent(a)}${b ? `&b=${encodeURIComponent(b)}` : ""}`;
  beforeAll(async () => {
    site = await serve();
    await chat(site, "weather");
    await chat(site, "weather", "regenerate-message");
    const session = "5e551000-0000-4000-8000-0000000000a";
    first = await importBreadSession(site, {
      session: `${session}a`,
      degrees: 230,
      last: "The  bread is done.",
      thinks: true,
    });
    second = await importBreadSession(site, {
      session: `${session}b`,
      degrees: 180,
      last: "The bread is burnt.",
      thinks: false,
    });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("compares a response with the regenerated one", async () => {
    const [again, before] = await runsOf(site, "weather");
    const page = await site.open(compare(again ?? ""));
    await expect.poll(() => page.evaluate(() => location.hash)).toContain(`b=${before}`);
    await page.getByText("All parts are equal.").waitFor();
    const tokens = page.getByRole("row", { name: /^output tokens/ });
    const [a, b, change] = await tokens.getByRole("cell").allInnerTexts();
    expect(Number(a)).toBeGreaterThan(0);
    expect([b, change]).toEqual([a, ""]);
    await page.getByRole("button", { name: /unchanged part/ }).click();
    await page
      .getByRole("article", { name: "tool call get_weather, equal" })
      .getByText("Vardø")
      .first()
      .waitFor();
  });

  it("shows the differences of two imported sessions in texts and values", async () => {
    const page = await site.open(compare(first, second));
    await page.getByText(/2 changed, 1 only in A/).waitFor();
    const call = page.getByRole("article", { name: "tool call Oven, changed" });
    const [row] = await call.getByRole("row", { name: /degrees/ }).all();
    expect(await row?.getByRole("cell").allInnerTexts()).toEqual(["230", "180"]);
    const text = page.getByRole("article", { name: "text, changed" });
    expect(await text.locator("del").allTextContents()).toContain("done");
    expect(await text.locator("ins").allTextContents()).toContain("burnt");
    await page.getByRole("article", { name: "reasoning, only in A" }).getByText("Rye or wheat?").waitFor();
    expect(await text.locator("del").count()).toBe(2);
    await page.getByLabel("Ignore whitespace").check();
    await expect.poll(() => text.locator("del").count()).toBe(1);
  });

  it("moves from difference to difference by keyboard", async () => {
    const page = await site.open(compare(first, second));
    await page.getByText("3 differences").waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    const seen: (string | null | undefined)[] = [];
    for (const key of ["]", "]", "]", "]", "["]) {
      await page.keyboard.press(key);
      seen.push(await focused());
    }
    const [one, two, three] = seen;
    expect(new Set([one, two, three]).size).toBe(3);
    expect(seen).toEqual([one, two, three, one, three]);
    await page.getByText("3 of 3").waitFor();
  });

  it("swaps its sides", async () => {
    const page = await site.open(compare(first, second));
    await page.getByRole("button", { name: "Swap sides" }).click();
    await page.getByRole("article", { name: "reasoning, only in B" }).waitFor();
    expect(await page.evaluate(() => location.hash)).toBe(compare(second, first));
  });

  it("lets the user select two runs", async () => {
    const page = await site.open("#/compare");
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("bread");
    const found = page.getByRole("region", { name: "Sessions" }).getByRole("button");
    await expect.poll(() => found.count()).toBe(2);
    await found.first().click();
    await page.getByRole("button", { name: /^Run 1/ }).click();
    await page.getByText("This session has no other run.").waitFor();
    await page.getByRole("button", { name: "Select run B" }).click();
    const dialog = page.getByRole("dialog", { name: "Select run B" });
    await dialog.getByRole("button", { name: "Another session" }).click();
    await dialog.getByRole("region", { name: "Recent runs" }).getByRole("button").first().click();
    await page.getByRole("heading", { name: "Parts" }).waitFor();
    await dialog.waitFor({ state: "detached" });
  });

  it("fits a narrow screen", async () => {
    const page = await site.open(compare(first, second), { viewport: { width: 360, height: 740 } });
    await page.getByText("3 differences").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it("has no empty row below the heads of its columns", async () => {
    for (const width of [768, 1024]) {
      const page = await site.open(compare(first, second), { viewport: { width, height: 800 } });
      await page.getByText("3 differences").waitFor();
      const gap = await page.evaluate(() => {
        const heads = document.querySelector("[aria-hidden] > span:last-child")?.closest("section");
        const boxes = [...(heads?.children ?? [])].map((one) => one.getBoundingClientRect());
        return Math.max(...boxes.slice(1).map((box, index) => box.top - (boxes[index]?.bottom ?? box.top)));
      });
      expect(gap).toBeLessThan(24);
    }
  });

  it.each([1440, 1024, 390])("has no accessibility violations in both themes at %d px", async (width) => {
    const page = await site.open(compare(first, second), { viewport: { width, height: 844 } });
    await page.getByText("3 differences").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
  });
});
