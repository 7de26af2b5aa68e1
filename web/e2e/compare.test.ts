import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violations } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const QUESTION = { id: "u", role: "user", parts: [{ type: "text", text: "What is the weather in Oslo?" }] };

interface Listed {
  readonly items: readonly { readonly id: string; readonly threadId: string }[];
}

const runsOf = async (site: Site, thread: string): Promise<readonly string[]> =>
  (await site.api<Listed>("GET", `api/runs?threadId=${encodeURIComponent(thread)}`)).items.map(
    ({ id }) => id,
  );

async function chat(site: Site, thread: string, trigger?: string): Promise<void> {
  const response = await fetch(new URL("api/chat", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id: thread, messages: [QUESTION], ...(trigger ? { trigger } : {}) }),
  });
  await response.text();
}

/** A session of Claude Code about bread, baked at so many degrees. */
async function bake(
  site: Site,
  session: string,
  degrees: number,
  last: string,
  thinks: boolean,
): Promise<string> {
  const answer = (content: object, id: string) => ({
    type: "assistant",
    message: { id, type: "message", role: "assistant", model: "claude-baker", content: [content], usage: {} },
  });
  const lines = [
    { type: "user", message: { role: "user", content: "Bake bread" } },
    ...(thinks ? [answer({ type: "thinking", thinking: "Rye or wheat?", signature: "s" }, "m1")] : []),
    answer({ type: "text", text: "I knead the dough." }, "m1"),
    answer({ type: "tool_use", id: "c1", name: "Oven", input: { degrees, fan: true } }, "m1"),
    {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "hot" }] },
    },
    answer({ type: "text", text: last }, "m2"),
  ].map((line, number) => ({
    parentUuid: number ? `${session}-${number - 1}` : null,
    uuid: `${session}-${number}`,
    timestamp: `2026-04-01T08:0${number}:00.000Z`,
    sessionId: session,
    isSidechain: false,
    cwd: "/kitchen",
    version: "2.1.50",
    ...line,
  }));
  const response = await fetch(new URL("api/import", `${site.address}/`), {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  expect(response.status).toBe(200);
  const [run] = await runsOf(site, session);
  return run ?? "";
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
    first = await bake(site, "5e551000-0000-4000-8000-0000000000aa", 230, "The  bread is done.", true);
    second = await bake(site, "5e551000-0000-4000-8000-0000000000bb", 180, "The bread is burnt.", false);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("puts an answer beside the one that was made anew", async () => {
    const [again, before] = await runsOf(site, "weather");
    const page = await site.open(compare(again ?? ""));
    await expect.poll(() => page.evaluate(() => location.hash)).toContain(`b=${before}`);
    await page.getByText("Both said and did the same.").waitFor();
    const tokens = page.getByRole("row", { name: /^output tokens/ });
    expect(await tokens.getByRole("cell").allInnerTexts()).toEqual(["50", "50", ""]);
    await page.getByRole("button", { name: /unchanged part/ }).click();
    await page
      .getByRole("article", { name: "call of get_weather, the same" })
      .getByText("Vardø")
      .first()
      .waitFor();
  });

  it("shows where two imported sessions differ, in words and in values", async () => {
    const page = await site.open(compare(first, second));
    await page.getByText(/2 changed, 1 only in A/).waitFor();
    const call = page.getByRole("article", { name: "call of Oven, changed" });
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

  it("jumps from difference to difference", async () => {
    const page = await site.open(compare(first, second));
    await page.getByText("3 differences").waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    const seen: (string | null | undefined)[] = [];
    for (const key of ["n", "n", "n", "n", "p"]) {
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

  it("lets two runs be chosen", async () => {
    const page = await site.open("#/compare");
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("bread");
    const found = page.getByRole("region", { name: "Sessions" }).getByRole("button");
    await expect.poll(() => found.count()).toBe(2);
    await found.first().click();
    await page.getByRole("button", { name: /^Run 1/ }).click();
    await page.getByText("There is no other run in this session.").waitFor();
    await page.getByRole("button", { name: "Choose run B" }).click();
    const dialog = page.getByRole("dialog", { name: "Choose run B" });
    await dialog.getByRole("button", { name: "Another session" }).click();
    await dialog.getByRole("region", { name: "Latest runs" }).getByRole("button").first().click();
    await page.getByRole("heading", { name: "What they said and did" }).waitFor();
    await dialog.waitFor({ state: "detached" });
  });

  it("fits a narrow screen", async () => {
    const page = await site.open(compare(first, second), { viewport: { width: 360, height: 740 } });
    await page.getByText("3 differences").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it.each(["light", "dark"] as const)("has no barrier in %s", async (theme) => {
    const page = await site.open(compare(first, second), { theme });
    await page.getByText("3 differences").waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
