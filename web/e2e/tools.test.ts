import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { assistantMessage, KINDS, STATES, userMessage } from "../unit/tools/calls";
import { violations } from "./setup/axe";
import { python, type Site, serve } from "./setup/site";

/** An output of 20 MB in lines, and one of 5 MB in a single line. */
const LARGE = `
import sys
from partita import AssistantMessage, TextOutput, ToolCallPart, open_store_sync

texts = {
    "large": "\\n".join(f"line {at} of an output that goes on and on é" for at in range(430_000)),
    "endless": "x" * 5_000_000,
}
with open_store_sync(sys.argv[1]) as store:
    for name, text in texts.items():
        store.threads.create(id=name, title=name)
        call = ToolCallPart(id="c", name="Bash", state="output-available", input={"command": f"cat {name}"},
                            output=TextOutput(value=text))
        store.messages.save([AssistantMessage(id=f"{name}-1", content=[call])], thread_id=name)
`;

const card = (page: Page, name: RegExp): Locator => page.getByRole("group", { name }).first();

/** Scrolls up: the list sticks to its end until the user scrolls, and would move buttons. */
async function leaveEnd(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Messages" }).hover();
  await page.mouse.wheel(0, -60);
}

async function opened(page: Page, name: RegExp): Promise<Locator> {
  const found = card(page, name);
  await found.waitFor();
  await leaveEnd(page);
  const head = found.getByRole("button", { expanded: false }).first();
  if ((await found.locator("button[aria-expanded]").first().getAttribute("aria-expanded")) === "false")
    await head.click();
  return found;
}

describe("tool calls", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      {
        thread: { id: "every", title: "Every kind and state" },
        messages: [userMessage("q", "Bake."), assistantMessage("every-1", ...KINDS, ...STATES)],
      },
    ]);
    await python(LARGE, `sqlite:///${join(site.folder, "store.db")}`);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("are displayed by their kind", async () => {
    const page = await site.open("#/t/every");

    const shell = await opened(page, /^Shell npm test/);
    const red = shell.getByText("burns nothing");
    const plain = shell.getByText("100 % done");
    const colour = (where: Locator) => where.evaluate((element) => getComputedStyle(element).color);
    expect(await colour(red)).not.toBe(await colour(plain));
    expect(await plain.textContent()).toBe("100 % done");
    expect(await card(page, /^Shell make loaf/).textContent()).toContain("Exit 2");

    const diff = await opened(page, /^Edit .*oven\.py/);
    expect(await diff.getByRole("row").allTextContents()).toEqual([
      "99 class Oven:",
      "10−removed    degrees = 180",
      "10+added    degrees = 220",
      "1111     light = True",
      "12+added    fan = True",
    ]);
    await diff.getByRole("button", { name: "Side by side" }).click();
    expect(await diff.getByRole("row").count()).toBe(4);

    const todo = await opened(page, /^To do/);
    expect((await todo.getByRole("listitem").allTextContents()).slice(0, 3)).toEqual([
      "done: Mix the dough",
      "in progress: Heat the ovenin progress",
      "to do: Bake",
    ]);

    const found = await opened(page, /^Search heat/);
    expect(await found.locator("mark").allTextContents()).toEqual(["heat(", "heat(", "heat("]);
    await (await opened(page, /^Read loaf\.png/)).getByRole("img", { name: "loaf.png" }).waitFor();
    await (await opened(page, /^Plan/)).getByRole("heading", { name: "The plan" }).waitFor();
  });

  it("have no animations with reduced motion", async () => {
    const page = await site.open("#/t/every");
    await card(page, /^Shell npm test/).waitFor();
    const moving = () => document.getAnimations().filter((one) => one.playState === "running").length;
    await expect.poll(() => page.evaluate(moving)).toBe(0);
  });

  it("of sub-agents contain nested calls, two levels deep", async () => {
    const page = await site.open("#/t/every");
    const outer = await opened(page, /^explorer/);
    await outer.getByRole("button", { name: /1 message/, expanded: true }).waitFor();
    const inner = await opened(page, /^reader/);
    await inner.getByRole("button", { name: /1 message/, expanded: true }).waitFor();
    await inner.getByRole("paragraph").getByText("The deepest words.").waitFor();
    expect(await outer.getByRole("paragraph").getByText("The deepest words.").count()).toBe(1);
  });

  it("show their state, and ask for approval", async () => {
    const page = await site.open("#/t/every");
    const waiting = card(page, /^Shell rm -rf crumbs: Waiting for approval/);
    await waiting.getByText("It deletes files.").waitFor();
    await waiting.getByRole("button", { name: "Approve" }).waitFor();
    await waiting.getByLabel("Reason (optional)").fill("They are stale.");
    const shown = page.locator("[data-tool-state]");
    const states = await shown.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.toolState));
    expect(states.slice(-STATES.length)).toEqual([
      "input-streaming",
      "input-available",
      "approval-requested",
      "output-denied",
      "output-available",
      "output-error",
      ...Array(3).fill("interrupted"),
      ...Array(3).fill("output-available"),
      "output-error",
    ]);
  });

  it("with a large output load it in pieces", async () => {
    const page = await site.open("#/t/large");
    const ranges: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/blobs/")) ranges.push(request.headers().range ?? "all");
    });
    await card(page, /^Shell cat large/).waitFor();
    expect(ranges).toEqual([]);

    const large = await opened(page, /^Shell cat large/);
    await large.getByText("line 0 of an output").waitFor();
    expect(ranges).toEqual(["bytes=0-65535"]);
    await large.getByText(/^66 KB of 2\d MB/).waitFor();
    await large.getByRole("button", { name: "Show more" }).click();
    await large.getByText(/^328 KB of/).waitFor();
    expect(ranges).toEqual(["bytes=0-65535", "bytes=65536-327679"]);

    const box = large.getByRole("group", { name: "Output" });
    expect(await box.locator("[data-index]").count()).toBeLessThan(120);
    await box.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await box
      .getByText(/^line [67]\d{3} of/)
      .first()
      .waitFor();
  });

  it("with a very long line show it in pieces", async () => {
    const page = await site.open("#/t/endless");
    const endless = await opened(page, /^Shell cat endless/);
    await endless.getByText("↩").first().waitFor();
    await endless.getByText(/^66 KB of 5.0 MB/).waitFor();
  });

  it.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("have no accessibility violations in the %s theme at %i px", async (theme, width) => {
    const page = await site.open("#/t/every", { theme, viewport: { width, height: 900 } });
    await page.locator("[data-tool-state]").first().waitFor();
    await page.evaluate(() => {
      const closed = "[data-tool-state] > div:first-child > button[aria-expanded='false']";
      for (const head of document.querySelectorAll<HTMLElement>(closed)) head.click();
    });
    await card(page, /^pantry: stock/)
      .getByRole("tree")
      .first()
      .waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
