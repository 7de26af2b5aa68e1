import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { assistantMessage, call, KINDS, STATES, userMessage } from "../unit/tools/calls";
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

const DEEP = "packages/bakery/src/components/ovens/with/many/folders/in/between/the_name_of_the_file.tsx";

/** Calls with paths, a description and a failure. */
const WORK = [
  call(
    "Read",
    { file_path: `/srv/bakery/${DEEP}`, offset: 12, limit: 2 },
    "    12→class Oven:\n    13→    hot = True",
  ),
  call(
    "Bash",
    { command: 'cd /srv/bakery && git commit -am "Heat" && gh pr create', description: "Commit the oven" },
    "[main 0a1b2c3] Heat the oven\nhttps://git.example/bakery/oven/pull/7\n",
  ),
  call(
    "Bash",
    { command: "npm test" },
    { type: "error-text", value: "Exit code 1\nok 1\n\u001b[31m2 of 3 tests failed\u001b[0m\n" },
    { state: "output-error" },
  ),
  call(
    "Edit",
    { file_path: "/srv/bakery/oven.py", old_string: "a", new_string: "b" },
    { type: "error-text", value: "<tool_use_error>String to replace not found.</tool_use_error>" },
    { state: "output-error" },
  ),
  call("Grep", { pattern: "hot" }, "src/oven.py:40:        hot = True\nsrc/oven.py:44:    hot = False"),
];

/** Calls whose outputs have tags and facts for the model. */
const FOR_THE_MODEL = [
  call(
    "Read",
    { file_path: "/srv/bakery/loaf.py" },
    "     1→hot = True\n\n<system-reminder>\nBe careful.\n</system-reminder>",
  ),
  call(
    "Read",
    { file_path: "/srv/bakery/none.py" },
    { type: "error-text", value: "<tool_use_error>No such file.</tool_use_error>" },
    { state: "output-error" },
  ),
  call(
    "Task",
    { description: "Look", prompt: "Look it up", subagent_type: "explorer" },
    "Found it.\nagentId: a39f (use SendMessage to continue)\n<usage>subagent_tokens: 6082</usage>",
  ),
  call(
    "TaskOutput",
    { task_id: "b1" },
    "<status>completed</status>\n<exit_code>0</exit_code>\n<output>\nbaked\n1\n</output>",
  ),
  call("oven__heat", {}, 'Wall time: 1.4 seconds\nOutput:\n{"hot":true}'),
];

const SUMMARY =
  "Heated in `oven.py:44`, see [`the oven`](./oven.py#L40) and `the_name_of_the_file.tsx`, not in `fridge.py:3`. " +
  "It is `0a1b2c3d`.";

const card = (page: Page, name: RegExp): Locator => page.getByRole("group", { name }).first();

/** Without groups of calls. */
const EVERYTHING = { preferences: { detail: "everything" } };

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
    await site.seed([
      {
        thread: {
          id: "work",
          title: "Work",
          project: "/srv/bakery",
          metadata: { gitRepository: "git@github.com:bakery/oven.git" },
        },
        messages: [
          userMessage("w", "Heat it."),
          assistantMessage("work-1", ...WORK),
          assistantMessage("work-2", { type: "text", text: SUMMARY }),
        ],
      },
    ]);
    await site.seed([
      {
        thread: { id: "tags", title: "Tags", project: "/srv/bakery" },
        messages: [userMessage("t", "Heat it."), assistantMessage("tags-1", ...FOR_THE_MODEL)],
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
    const page = await site.open("#/t/every", EVERYTHING);

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

  it("have the name of the file in their head, at any width", async () => {
    for (const width of [1280, 390]) {
      const page = await site.open("#/t/work", { ...EVERYTHING, viewport: { width, height: 800 } });
      const path = card(page, /^Read packages/)
        .getByTitle(`/srv/bakery/${DEEP}`)
        .first();
      const name = path.getByText("/the_name_of_the_file.tsx");
      await name.waitFor();
      expect(await name.evaluate((it) => it.scrollWidth <= it.clientWidth)).toBe(true);
      expect((await path.textContent())?.startsWith("packages/bakery/")).toBe(true);
      const folders = path.getByText("packages/bakery/src");
      expect(await folders.evaluate((it) => it.scrollWidth > it.clientWidth)).toBe(true);
    }
  });

  it("link files to the editor, at their line, and show each path once", async () => {
    const page = await site.open("#/t/work", EVERYTHING);
    const read = await opened(page, /^Read packages/);
    const editor = read.getByRole("link", { name: /in the editor$/ });
    expect(await editor.getAttribute("href")).toBe(`vscode://file/srv/bakery/${DEEP}:12:1`);
    expect(await read.getByText("/the_name_of_the_file.tsx").count()).toBe(1);
    const found = await opened(page, /^Search hot/);
    const hit = found.getByRole("link", { name: "Open src/oven.py, line 44, in the editor" });
    expect(await hit.getAttribute("href")).toBe("vscode://file/srv/bakery/src/oven.py:44:1");
    expect(await found.getByRole("listitem").last().innerText()).toContain("    hot = False");
    expect(await found.getByText("        hot = True").count()).toBe(1);

    const choose = (editor: string) =>
      page.evaluate(
        (it) =>
          localStorage.setItem("partita.preferences", JSON.stringify({ detail: "everything", editor: it })),
        editor,
      );
    for (const unsafe of ["", "javascript:alert('{path}')", "data:text/html,{path}"]) {
      await choose(unsafe);
      await page.reload();
      await opened(page, /^Search hot/);
      expect(await page.getByRole("link", { name: /in the editor/ }).count()).toBe(0);
    }
  });

  it("show the description, commits and pull requests of a command, and why a call failed", async () => {
    const page = await site.open("#/t/work", EVERYTHING);
    const made = card(page, /^Shell git commit/);
    const head = made.locator("button[aria-expanded]");
    await head.getByText("Commit the oven", { exact: true }).waitFor();
    await head.getByText('git commit -am "Heat"').waitFor();
    await made.getByText("Heat the oven").waitFor();
    const pull = made.getByRole("link", { name: "git.example/bakery/oven/pull/7" });
    expect(await pull.getAttribute("href")).toBe("https://git.example/bakery/oven/pull/7");

    await card(page, /^Shell npm test/)
      .getByRole("button", { name: /2 of 3 tests failed/, expanded: false })
      .waitFor();
    await card(page, /^Edit oven\.py/)
      .getByRole("button", { name: /String to replace not found\./, expanded: false })
      .waitFor();
  });

  it("show no tags that agents add for the model, and fields as such", async () => {
    const page = await site.open("#/t/tags", EVERYTHING);
    const read = await opened(page, /^Read loaf\.py/);
    const reminder = read.getByRole("button", { name: "System reminder 1 line" });
    expect(await read.getByText("Be careful.").count()).toBe(0);
    await reminder.click();
    await read.getByText("Be careful.", { exact: true }).waitFor();
    await (await opened(page, /^Read none\.py/)).getByText("No such file.", { exact: true }).waitFor();
    const agent = await opened(page, /^explorer Look/);
    await agent.getByText("Found it.", { exact: true }).waitFor();
    const output = await opened(page, /^TaskOutput/);
    expect(await output.getByRole("term").allTextContents()).toEqual(["Status", "Exit code"]);
    expect(await output.getByRole("definition").allTextContents()).toEqual(["completed", "0"]);
    await output.getByRole("group", { name: "Output" }).getByText("baked").waitFor();
    const tree = (await opened(page, /^oven: heat/)).getByRole("tree", { name: "Output" });
    expect(await tree.getByRole("treeitem").allTextContents()).toEqual(["hot:true"]);
    expect(await page.getByText("Input", { exact: true }).count()).toBe(1); // of TaskOutput
    const shown = await page.getByRole("region", { name: "Messages" }).innerText();
    expect(shown).not.toMatch(/<\/?\w+|agentId|member/);
  });

  it("and files and commits in texts are linked if they belong to the session", async () => {
    const page = await site.open("#/t/work", EVERYTHING);
    const text = page.locator('article[data-place="work-2"]');
    const links = text.getByRole("paragraph").getByRole("link");
    await expect.poll(() => links.count()).toBe(4);
    expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute("href")))).toEqual([
      "vscode://file/srv/bakery/oven.py:44:1",
      "vscode://file/srv/bakery/oven.py:40:1",
      `vscode://file/srv/bakery/${DEEP}:1:1`,
      "https://github.com/bakery/oven/commit/0a1b2c3",
    ]);
    expect(await text.getByText("fridge.py:3").count()).toBe(1);
    expect(await text.getByText(/oven\.py#L40/).count()).toBe(0); // the target is not shown beside the text
    expect(await violations(page)).toEqual([]);
    const made = card(page, /^Shell git commit/).getByRole("link", { name: /Heat the oven/ });
    expect(await made.getAttribute("href")).toBe("https://github.com/bakery/oven/commit/0a1b2c3");
  });

  it("expand at a click anywhere in their line", async () => {
    const page = await site.open("#/t/work", EVERYTHING);
    const found = card(page, /^Search hot/);
    await found.waitFor();
    await leaveEnd(page);
    const head = found.locator("button[aria-expanded]");
    const line = found.locator("> div").first();
    const box = await line.boundingBox();
    for (const [x, isOpen] of [
      [3, "true"],
      [(box?.width ?? 0) / 2, "false"],
    ] as const) {
      await page.mouse.click((box?.x ?? 0) + x, (box?.y ?? 0) + 4);
      await expect.poll(() => head.getAttribute("aria-expanded")).toBe(isOpen);
      if (isOpen === "true") await found.getByRole("link", { name: /line 44/ }).waitFor();
      expect(await line.boundingBox()).toEqual(box); // it stays under the pointer
    }
  });

  it("are expanded at first if the user prefers that", async () => {
    const page = await site.open("#/t/work", EVERYTHING);
    await card(page, /^Search hot/).waitFor();
    expect(await page.locator("[data-tool-state] button[aria-expanded='true']").count()).toBe(0);
    await page.evaluate(() =>
      localStorage.setItem(
        "partita.preferences",
        JSON.stringify({ detail: "everything", open: ["commands"] }),
      ),
    );
    await page.reload();
    await card(page, /^Shell npm test/)
      .getByRole("button", { expanded: true })
      .first()
      .waitFor();
    expect(
      await card(page, /^Search hot/)
        .getByRole("button", { expanded: true })
        .count(),
    ).toBe(0);
  });

  it("have no animations with reduced motion", async () => {
    const page = await site.open("#/t/every", EVERYTHING);
    await card(page, /^Shell npm test/).waitFor();
    const moving = () => document.getAnimations().filter((one) => one.playState === "running").length;
    await expect.poll(() => page.evaluate(moving)).toBe(0);
  });

  it("of sub-agents contain nested calls, two levels deep", async () => {
    const page = await site.open("#/t/every", EVERYTHING);
    const outer = await opened(page, /^explorer/);
    await outer.getByRole("button", { name: /1 message/, expanded: true }).waitFor();
    const inner = await opened(page, /^reader/);
    await inner.getByRole("button", { name: /1 message/, expanded: true }).waitFor();
    await inner.getByRole("paragraph").getByText("The deepest words.").waitFor();
    expect(await outer.getByRole("paragraph").getByText("The deepest words.").count()).toBe(1);
  });

  it("show their state, and ask for approval", async () => {
    const page = await site.open("#/t/every", EVERYTHING);
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
    const page = await site.open("#/t/large", EVERYTHING);
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
    const page = await site.open("#/t/endless", EVERYTHING);
    const endless = await opened(page, /^Shell cat endless/);
    await endless.getByText("↩").first().waitFor();
    await endless.getByText(/^66 KB of 5.0 MB/).waitFor();
  });

  it.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("have no accessibility violations in the %s theme at %i px", async (theme, width) => {
    const page = await site.open("#/t/every", { ...EVERYTHING, theme, viewport: { width, height: 900 } });
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
