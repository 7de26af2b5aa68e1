/** The turns of a session: what is running, groups of calls, levels of detail and filters. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const text = (words: string) => ({ type: "text", text: words });
const bash = (id: string, command: string, state = "output-available") => ({
  type: "tool-call",
  id,
  name: "Bash",
  state,
  input: { command },
  ...(state === "output-available" ? { output: { type: "text", value: "done" } } : {}),
});
const failed = (id: string, command: string) => ({
  ...bash(id, command, "output-error"),
  output: { type: "error-text", value: "no tape measure" },
});
/** A call without an error that failed by its exit code. */
const exited = (id: string, command: string) => ({
  ...bash(id, command),
  output: { type: "text", value: "Process exited with code 3\nOutput:\nno crane" },
});
const message = (id: string, role: string, ...content: readonly object[]) => ({ id, role, content });

/** A question, calls in several messages with a text between them, and a result. */
const turn = (number: number, calls: number) => [
  message(`q${number}`, "user", text(`Question ${number}: how high is it?`)),
  ...Array.from({ length: calls }, (_, call) =>
    message(`t${number}c${call}`, "assistant", bash(`b${number}-${call}`, `measure ${number}.${call}`)),
  ),
  message(
    `m${number}`,
    "assistant",
    { type: "reasoning", text: "Once more." },
    text(`Nearly done with ${number}.`),
    failed(`f${number}`, `weigh${number}`),
    bash(`g${number}`, `lift${number}`),
    (number === 0 ? exited : bash)(`h${number}`, `lower${number}`),
  ),
  message(`r${number}`, "assistant", text(`Result ${number}: forty metres. ${"It is high. ".repeat(40)}`)),
];

const list = (page: Page) => page.getByRole("region", { name: "Messages" });
const row = (page: Page, id: string) => page.locator(`[data-message="${id}"]`);

describe("the turns of a session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      {
        thread: { id: "open", title: "Two measurements" },
        messages: [
          message("q1", "user", text("Measure the lamp")),
          message("a1", "assistant", bash("c1", "measure lamp", "input-available")),
          message("q2", "user", text("Measure the tower")),
          message("a2", "assistant", bash("c2", "measure tower", "input-available")),
        ],
      },
      {
        thread: { id: "turns", title: "Many measurements" },
        messages: Array.from({ length: 8 }, (_, number) => turn(number, number === 3 ? 1 : 4)).flat(),
      },
    ]);
  });
  const open = async (hash: string) => {
    const page = await site.open(hash);
    await list(page).locator("[data-message]").first().waitFor();
    return page;
  };
  const groups = (page: Page) => list(page).locator("[data-group]");
  /** The text of the entries that are displayed, without the heads of messages. */
  const shown = (page: Page) =>
    list(page)
      .locator("[data-message], [data-slice], [data-group-row]")
      .evaluateAll((rows) =>
        rows
          .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
          .map(
            (one) => (one as HTMLElement).dataset.message ?? (one as HTMLElement).dataset.slice ?? "group",
          ),
      );

  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("shows calls without result as running only in the last turn of a session that is running", async () => {
    const page = await site.open("");
    let running = true;
    await page.route(/\/api\/threads\/open\/outline/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), running } });
    });
    const call = (id: string, state: string) =>
      row(page, id).getByRole("group", { name: new RegExp(`: ${state}$`) });
    await page.goto(`${site.address}/#/t/open`);
    await call("a2", "Running").waitFor();
    await call("a1", "No result").waitFor();
    running = false;
    await page.reload();
    await call("a2", "No result").waitFor();
    expect(await list(page).getByText("Running").count()).toBe(0);
  });

  it("folds the calls between texts into lines that expand in place", async () => {
    const page = await open("#/t/turns?m=q0");
    const group = groups(page).first();
    expect(await group.innerText()).toMatch(/^4 calls[\s\S]*4 commands$/);
    await expect.poll(() => groups(page).nth(1).innerText()).toMatch(/3 commands[\s\S]*2 failed/); // one by its exit code
    expect((await shown(page)).slice(0, 5)).toEqual(["q0", "group", "m0", "group", "r0"]);
    await row(page, "q0").getByText("Turn 1").waitFor();
    await group.click();
    await page.getByRole("group", { name: /measure 0\.0/ }).waitFor();
    expect((await shown(page)).slice(0, 7)).toEqual(["q0", "group", "t0c0", "t0c1", "t0c2", "t0c3", "m0"]);
    expect(await violationsInBoth(page, "main")).toEqual([]);
    await group.click();
    await page.getByRole("group", { name: /measure 0\.0/ }).waitFor({ state: "detached" });
  });

  it("leaves few calls unfolded", async () => {
    const page = await open("#/t/turns?m=q3");
    await page.getByRole("group", { name: /measure 3\.0/ }).waitFor();
  });

  it("has three levels of detail, and keeps the message at the top", async () => {
    const page = await open("#/t/turns?m=q4");
    await page.locator('[data-message="q4"][data-highlighted="false"]').waitFor();
    const top = () =>
      row(page, "q4").evaluate((one) =>
        Math.round(
          one.getBoundingClientRect().top - (one.closest("section")?.getBoundingClientRect().top ?? 0),
        ),
      );
    const before = await top();
    for (const [key, name, rows] of [
      ["1", "Focused", ["q4", "group", "r4", "q5"]],
      ["3", "Everything", ["q4", "t4c0", "t4c1", "t4c2", "t4c3", "m4"]],
      ["2", "Normal", ["q4", "group", "m4", "group", "r4"]],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator(`button[aria-pressed=true]`, { hasText: name }).waitFor();
      const visible = async () => {
        const all = await shown(page);
        return all.slice(all.indexOf("q4"), all.indexOf("q4") + rows.length);
      };
      await expect.poll(visible).toEqual(rows);
      await expect
        .poll(async () => Math.abs((await top()) - before), { message: name })
        .toBeLessThanOrEqual(2);
    }
  });

  it("opens the group that hides a part in the address, a match or a message", async () => {
    const page = await open("#/t/turns?m=t5c2&p=0");
    await page.getByRole("group", { name: /measure 5\.2/ }).waitFor();
    await page.keyboard.press("f");
    await page.getByRole("textbox", { name: "Find in this session" }).fill("lower6");
    await page.getByRole("group", { name: /lower6/ }).waitFor();
  });

  it("steps through messages and groups", async () => {
    const page = await open("#/t/turns?m=q0");
    await page.locator('[data-message="q0"][data-selected="true"]').waitFor();
    await page.keyboard.press("j");
    await page.locator('[data-group-row][data-selected="true"]').waitFor();
    await page.keyboard.press("j");
    await page.locator('[data-message="m0"][data-selected="true"]').waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await page.locator('[data-message="q0"][data-selected="true"]').waitFor();
    await page.keyboard.press("n");
    await page.locator('[data-message="q1"][data-selected="true"]').waitFor();
  });

  it("filters messages and calls by kind, and clears the filter for what is shown next", async () => {
    const page = await open("#/t/turns?m=q0");
    await page.getByRole("button", { name: "Filter messages" }).click();
    const kind = (name: string) =>
      page.getByRole("group", { name: "Show only" }).getByRole("button", { name });
    await kind("Errors 8").click();
    await page.getByText("Filtered: 8 of 53").waitFor();
    await page.getByRole("group", { name: /weigh0/ }).waitFor();
    expect(await page.getByRole("group", { name: /lift0/ }).count()).toBe(0);
    expect(await violationsInBoth(page, "main")).toEqual([]);
    await kind("Questions 8").click();
    await page.getByText("Filtered: 16 of 53").waitFor();
    await page.keyboard.press("f");
    await page.getByRole("textbox", { name: "Find in this session" }).fill("lift2");
    await page.getByRole("group", { name: /lift2/ }).waitFor();
    expect(await page.getByText("Filtered:").count()).toBe(0);
  });
});
