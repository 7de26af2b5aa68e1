import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const BAD = '[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hi"}]},\n {"id": }]';

/** Pastes a text without the clipboard. */
const paste = (page: Page, text: string) =>
  page.getByRole("region", { name: "Input" }).evaluate((element, given) => {
    const data = new DataTransfer();
    data.setData("text/plain", given);
    element.firstElementChild?.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
    );
  }, text);

describe("conversion", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  const open = async (options = {}) => {
    const page = await site.open("#/convert", options);
    await page.getByRole("heading", { level: 1, name: "Convert" }).waitFor();
    return page;
  };
  const results = (page: Page) => page.getByRole("region", { name: "Result", exact: true });

  it("detects the format of each sample", async () => {
    const page = await open();
    for (const [sample, format, words] of [
      ["OpenAI chat", "Chat Completions", "Let me look up the tides"],
      ["AI SDK messages", "AI SDK 7 UI messages", "41 metres"],
      ["Anthropic stream", "Messages API", "High water is at 06:12."],
      ["Claude Code log", "Claude Code session files", "The horn sounds a second late"],
    ] as const) {
      await page.getByRole("button", { name: sample }).click();
      await results(page).getByText(format).first().waitFor();
      await page.getByRole("tab", { name: "Conversation" }).click();
      await results(page).getByText(words).first().waitFor();
      // Calls are displayed by their kind.
      if (sample === "Claude Code log")
        await results(page).getByRole("group", { name: "Shell npm test -- foghorn: Failed" }).waitFor();
      await page.getByRole("tab", { name: "Canonical" }).click();
      await page.getByRole("tree", { name: "Canonical messages" }).waitFor();
      await page.getByRole("tab", { name: "Target format" }).click();
      await results(page).getByRole("region", { name: "Result" }).getByText('"parts"').first().waitFor();
    }
  });

  it("reads the text in another selected format, and writes any format", async () => {
    const page = await open();
    await page.getByRole("button", { name: "AI SDK messages" }).click();
    await results(page).getByText("AI SDK 7 UI messages").first().waitFor();
    await page.getByLabel("Read as").selectOption("ai-sdk-ui-v5");
    await results(page).getByText("· one JSON document").waitFor();
    await page.getByRole("tab", { name: "Target format" }).click();
    await page.getByLabel("Write as").selectOption("ai-sdk-model-v7");
    await results(page).getByRole("region", { name: "Result" }).getByText('"tool-call"').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download result" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("ai-sdk-model-v7.json");
  });

  it("marks losses in the source, and links marks and losses", async () => {
    const page = await open();
    const messages = Array.from({ length: 60 }, (_, index) => ({
      type: "ai",
      data: { type: "ai", id: `m${index}`, content: "Look." },
      shade: "blue",
    }));
    await paste(page, JSON.stringify(messages, null, 2));
    await page.getByRole("tab", { name: /Losses \([1-9]/ }).click();
    const lost = results(page).getByRole("button", { name: /Lost in reading/ });
    await lost.first().waitFor();
    const many = await lost.count();
    expect(many).toBeGreaterThan(1);
    await lost.last().click();
    const marks = page.getByRole("region", { name: "Source" }).locator("mark[data-tone=loss]");
    const chosen = page.getByRole("region", { name: "Source" }).locator("mark[data-chosen=true]");
    await chosen.first().waitFor();
    expect(await chosen.first().getAttribute("title")).toBeTruthy();
    await page.getByRole("region", { name: "Source" }).evaluate((element) => element.scrollTo(0, 0));
    await marks.first().click();
    await results(page)
      .locator("button[aria-pressed=true]")
      .filter({ hasText: "Lost in reading" })
      .first()
      .waitFor();
  });

  it("shows losses by severity and other candidates, and embeds what is lost", async () => {
    const page = await open();
    const rows = [
      {
        id: "m1",
        role: "user",
        createdAt: "2026-03-01T09:00:00Z",
        content: { format: 2, parts: [{ type: "text", text: "Hi" }] },
      },
    ];
    await paste(page, JSON.stringify(rows));
    await results(page).getByText("Other candidates:").waitFor();
    await page.getByRole("tab", { name: /Losses \([1-9]/ }).click();
    const losses = results(page).getByRole("listitem");
    await losses.filter({ hasText: "Lost in writing" }).first().waitFor();
    await page.getByRole("tab", { name: "Target format" }).click();
    await page.getByRole("checkbox", { name: "Embed what is lost" }).check();
    await results(page).getByRole("region", { name: "Result" }).getByText('"partita"').waitFor();
    await page.getByRole("tab", { name: "Losses (0)" }).click();
    await results(page).getByText("No losses").waitFor();
    await page.getByRole("tab", { name: "Target format" }).click();
    await page.getByLabel("Write as").selectOption("canonical");
    expect(await page.getByRole("checkbox", { name: "Embed what is lost" }).isDisabled()).toBe(true);
  });

  it("shows an error and its position while the user edits", async () => {
    const page = await open();
    await page.getByRole("textbox", { name: "Source text" }).fill(BAD);
    await results(page).getByRole("alert").getByText("invalid JSON").waitFor();
    await results(page).getByRole("button", { name: "Show line 2, column 9" }).click();
    expect(
      await page.getByRole("region", { name: "Source" }).locator("mark[data-tone=error]").textContent(),
    ).toBe("}");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Source text" }).fill(`${BAD.split(",\n")[0]}]`);
    await results(page).getByText("AI SDK 7 UI messages").first().waitFor();
    expect(await results(page).getByRole("alert").count()).toBe(0);
  });

  it("accepts a file, and stays responsive with five megabytes", async () => {
    const page = await open();
    const line = JSON.stringify({
      id: "m",
      role: "user",
      parts: [{ type: "text", text: "wave ".repeat(200) }],
    });
    const text = Array.from({ length: 4900 }, (_, index) => line.replace('"m"', `"m${index}"`)).join("\n");
    expect(text.length).toBeGreaterThan(5_000_000);
    await page.locator("input[type=file]").setInputFiles({
      name: "waves.jsonl",
      mimeType: "application/x-ndjson",
      buffer: Buffer.from(`${line}\n${line}\n`),
    });
    await results(page).getByText("JSON lines, 2 messages").waitFor();
    await paste(page, text);
    await results(page).getByText("JSON lines, 4,900 messages").waitFor({ timeout: 30_000 });
    await page.getByRole("tab", { name: "Canonical" }).click();
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByRole("region", { name: "Canonical messages" }).getByText('"m0"').waitFor();
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(5000);
    expect(await page.evaluate(() => document.body.scrollWidth)).toBeLessThanOrEqual(1280);
  });

  it("does not execute pasted text", async () => {
    const page = await open();
    const hostile =
      "<img src=x onerror=alert(1)><script>alert(1)</script> [x](javascript:alert(1)) \u202egnp.exe";
    await paste(
      page,
      JSON.stringify([{ id: hostile, role: "user", parts: [{ type: "text", text: hostile }] }]),
    );
    await results(page).getByText("AI SDK 7 UI messages").first().waitFor();
    await page.getByRole("region", { name: "Source" }).getByText("U+202E").first().waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("a[href^=javascript]").count()).toBe(0);
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await open();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.getByRole("button", { name: "Claude Code log" }).click();
    await results(page).getByText("The horn sounds").waitFor();
    expect(await violationsInBoth(page)).toEqual([]);
    await page.getByRole("tab", { name: /Losses/ }).click();
    await results(page)
      .getByText(/Noted|No losses/)
      .first()
      .waitFor();
    expect(await violationsInBoth(page, "[role=tabpanel]")).toEqual([]);
  });
});
