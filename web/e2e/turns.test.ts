/** The turns of a session: what is running, groups of calls, levels of detail and filters. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
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
const message = (id: string, role: string, ...content: readonly object[]) => ({ id, role, content });

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
    ]);
  });
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
});
