/** A thread with malicious content: no script runs, no request is sent, and the page stays usable. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { python, type Site, serve } from "./setup/site";

const HIT = "window.__hit=1";
const MARKUP = [
  `<script>${HIT}</script>`,
  `<img src=x onerror="${HIT}">`,
  `<svg onload="${HIT}"><script>${HIT}</script></svg>`,
  `<iframe srcdoc="<script>parent.__hit=1</script>" src="https://evil.example/frame"></iframe>`,
  `<body onload="${HIT}">`,
  `<details open ontoggle="${HIT}">x</details>`,
  `<style>@import url(https://evil.example/a.css); * { background: url(https://evil.example/b.png) }</style>`,
  `<link rel="stylesheet" href="https://evil.example/c.css">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<base href="https://evil.example/">`,
  `<form action="https://evil.example/"><input autofocus onfocus="${HIT}"></form>`,
  `<object data="https://evil.example/x"></object><embed src="https://evil.example/y">`,
  `<a href="javascript:${HIT}">press</a>`,
  `<math><mtext><mglyph><style><img src=x onerror="${HIT}"></style></mglyph></mtext></math>`,
  `<video src="https://evil.example/v.mp4" autoplay></video>`,
  `<div style="background:url(https://evil.example/s.png);position:fixed;inset:0">over all</div>`,
];
const LINKS = [
  `[one](javascript:${HIT})`,
  `[two](JAVASCRIPT:${HIT})`,
  `[three](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[four](<java\tscript:${HIT}>)`,
  `[five](vbscript:x)`,
  `<javascript:${HIT}>`,
  `![six](javascript:${HIT})`,
  `![seven](https://evil.example/pixel.png)`,
  `![eight](data:image/svg+xml,<svg onload="${HIT}"/>)`,
  `[nine](blob:https://evil.example/1)`,
];
const MATHS = [
  `$\\href{javascript:${HIT}}{x}$`,
  `$\\includegraphics{https://evil.example/m.png}$`,
  `$\\htmlStyle{background:url(https://evil.example/h.png)}{y}$`,
  `$\\def\\a{\\a\\a}\\a$`,
  `$\\rule{1000000em}{1000000em}$`,
  `$\\fcolorbox{red}{blue}{z} \\pmb{w}$`,
];
const DIAGRAMS = [
  `\`\`\`mermaid\ngraph LR\n  A["<img src=x onerror='parent.__hit=1'>"] --> B\n  click A href "javascript:parent.__hit=1"\n\`\`\``,
  `\`\`\`mermaid\n%%{init: {"securityLevel": "loose", "themeCSS": "* { background: url(https://evil.example/d.png) }"}}%%\ngraph LR\n  C --> D\n\`\`\``,
];
const HIDDEN = "a\u202Etxt.exe\u202C b\u200Bc d\u2066e\u2069 \u0007\u001b[31mred\u001b[0m \u0000 end";
/** Turns the direction of what follows, and isolates it. */
const BIDI = "\u202Efdp.\u2066x";
const DEEP = 5000;

const message = (id: string, role: string, parts: unknown[], more: object = {}) => ({
  id,
  role,
  type: "text",
  ...more,
  content: { format: 2, parts },
});
const text = (words: string) => ({ type: "text", text: words });
const call = (id: string, name: string, input: unknown, output: string) => ({
  type: "tool-call",
  id,
  name,
  state: "output-available",
  input,
  output: { type: "text", value: output },
});

const MESSAGES = [
  message("markup", "assistant", [text(MARKUP.join("\n\n")), text(MARKUP.join(" "))]),
  message("links", "assistant", [text(LINKS.join("\n\n"))]),
  message("maths", "assistant", [text(MATHS.join("\n\n"))]),
  message("signs", "user", [text(HIDDEN), text("W".repeat(50_000)), text("x ".repeat(25_000))]),
  message("deep", "assistant", [
    text(`${">".repeat(DEEP)} deep`),
    text(`${"- ".repeat(DEEP)}deep`),
    text(`${"[".repeat(DEEP)}deep`),
    text(`${"**".repeat(DEEP)}deep`),
    { type: "reasoning", text: `${"> ".repeat(DEEP)}deep` },
  ]),
  message("files", "user", [
    { type: "image", url: "https://evil.example/i.png", mediaType: "image/png", name: `<b>"'${HIDDEN}` },
    { type: "file", url: `javascript:${HIT}`, mediaType: "text/html", filename: "../../etc/passwd" },
    {
      type: "file",
      url: `data:image/svg+xml;base64,${btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="${HIT}"/>`)}`,
      mediaType: "image/png",
      filename: "a.png",
    },
    {
      type: "file",
      url: `data:text/html,<script>${HIT}</script>`,
      mediaType: "text/html",
      filename: "a.html",
    },
    {
      type: "file",
      url: "data:application/pdf;base64,AAAA",
      mediaType: "application/pdf",
      filename: "no.pdf",
    },
  ]),
  message("sources", "assistant", [
    { type: "source-url", sourceId: "1", url: `javascript:${HIT}`, title: `<img src=x onerror=${HIT}>` },
    { type: "source-url", sourceId: "2", url: "https://evil.example/\u202Egnp.exe", title: HIDDEN },
    {
      type: "data",
      name: "__proto__",
      data: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'),
    },
    { type: "constructor", toString: 1, hasOwnProperty: "x" },
  ]),
  message("calls", "assistant", [
    call("c1", "Bash", { command: `echo '${MARKUP[0]}'` }, `${HIDDEN}\n${MARKUP.join("\n")}`),
    call("c2", "__proto__", JSON.parse('{"__proto__":{"x":1}}'), MARKUP.join("\n")),
    call("c3", "WebFetch", { url: `javascript:${HIT}` }, LINKS.join("\n")),
    call("c4", "constructor", { toString: { valueOf: 1 } }, "]]>".repeat(1000)),
    call(`c5${BIDI}`, `tool${BIDI}`, { [`key${BIDI}`]: `value${BIDI}` }, `text${BIDI}`),
    call("c6", "Read", { file_path: `/a${BIDI}/b${BIDI}.py` }, "x"),
    call("c7", "Bash", { command: `ls ${BIDI}`, description: `List ${BIDI}` }, `[main 0a1b2c3] ${BIDI}`),
    call("c8", "Grep", { pattern: `p${BIDI}` }, `src/${BIDI}.py:3:${BIDI}`),
    call("c9", "Task", { description: `d${BIDI}`, prompt: BIDI, subagent_type: `s${BIDI}` }, BIDI),
    call("c10", "Edit", { file_path: `${BIDI}.py`, old_string: BIDI, new_string: `${BIDI}x` }, BIDI),
    call("c11", "TodoWrite", { todos: [{ content: BIDI, status: "pending" }] }, BIDI),
    call(
      "c12",
      "AskUserQuestion",
      { questions: [{ question: BIDI, options: [{ label: BIDI, description: BIDI }] }] },
      BIDI,
    ),
    call("c13", "WebFetch", { url: `https://evil.example/${BIDI}`, prompt: BIDI }, BIDI),
  ]),
  message("ide", "user", [
    text(
      `<ide_opened_file>${BIDI}</ide_opened_file>\n<teammate-message teammate_id="x${BIDI}">y</teammate-message>\nGo. ${BIDI}`,
    ),
  ]),
  message("diagrams", "assistant", [text(DIAGRAMS.join("\n\n"))]),
  message("end", "user", [text("the end")]),
];

const MEGABYTES = process.env.PARTITA_FULL ? 100 : 20;

const LARGE = `
import sys
from partita import AssistantMessage, ToolCallPart, TextOutput, open_store_sync

with open_store_sync(sys.argv[1]) as store:
    thread = store.threads.create(id="large", title="Large")
    call = ToolCallPart(id="c", name="Bash", state="output-available", input={"command": "cat"},
                        output=TextOutput(value="<b>x</b> " * (int(sys.argv[2]) * 1000000 // 9)))
    store.messages.save([AssistantMessage(id="big", content=[call])], thread_id="large")
`;

/** Expands everything inside an element. */
function expandAll(element: Element): void {
  for (const button of element.querySelectorAll<HTMLElement>('button[aria-expanded="false"]')) button.click();
}

/** Clicks everything that looks like a link but must not be one. */
function clickAll(element: Element): void {
  for (const words of element.querySelectorAll<HTMLElement>("p span:not(a span)")) words.click();
}

/** Expects that no script ran and that no unexpected element, handler, frame or link exists. */
async function expectSafe(page: Page): Promise<void> {
  const state = await page.evaluate(() => ({
    hit: (window as { __hit?: unknown }).__hit,
    polluted: ({} as { polluted?: unknown }).polluted,
    elements: [...document.querySelectorAll("#root :is(script, style, link, meta, base, object, embed)")]
      .length,
    handlers: [...document.querySelectorAll("#root *")].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith("on")),
    ).length,
    frames: [...document.querySelectorAll("iframe")].map((frame) => frame.getAttribute("src")),
    links: [...document.querySelectorAll("#main a[href]")].map((link) => link.getAttribute("href") ?? ""),
  }));
  expect({ ...state, frames: undefined, links: undefined }).toEqual({ elements: 0, handlers: 0 });
  expect(state.frames.filter((source) => source !== "mermaid.html")).toEqual([]);
  expect(state.links.filter((href) => !/^(?:#|https?:|mailto:|data:|blob:)/.test(href))).toEqual([]);
}

/** Expects that the page still responds. */
async function expectUsable(page: Page): Promise<void> {
  await expectSafe(page);
  await page.getByRole("button", { name: "Help (?)" }).click();
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
}

/** Nested JSON. The API rejects JSON that is nested too deeply. */
function deepJson(depth: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < depth; level += 1) value = level % 2 ? [value] : { in: value };
  return value;
}

describe("a malicious session", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    const title = `<img src=x onerror="${HIT}"> ${HIDDEN.replace("\0", "")}`;
    await site.seed([{ thread: { id: "hostile", title }, messages: [] }]);
    for (const one of MESSAGES) await site.api("POST", "api/threads/hostile/messages", [one]);
    await python(LARGE, `sqlite:///${join(site.folder, "store.db")}`, String(MEGABYTES));
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
    expect(site.foreign).toEqual([]);
  });
  afterAll(() => site.stop());

  it("is displayed safely with everything expanded", async () => {
    const page = await site.open("#/t/hostile");
    for (const { id } of MESSAGES) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/t/hostile?m=${id}`);
      const article = page.locator(`article[data-place="${id}"]`);
      await article.waitFor();
      await article.evaluate(expandAll);
      if (id === "diagrams")
        await page
          .getByRole("button", { name: /^(Show|Hide) source/ })
          .first()
          .waitFor();
      if (id === "links") await article.evaluate(clickAll);
      await expectSafe(page);
    }
    await expectUsable(page);
  });

  it("has no characters that turn the direction in any text, label or tooltip", async () => {
    const page = await site.open("#/t/hostile?m=calls");
    const turning = () =>
      page.evaluate(() => {
        const turning = /[\u202a-\u202e\u2066-\u2069]/;
        const names = ["aria-label", "title", "alt", "placeholder", "aria-description"];
        return [
          document.title,
          ...[...document.querySelectorAll("body, body *")].flatMap((element) => [
            ...names.map((name) => element.getAttribute(name) ?? ""),
            ...[...element.childNodes]
              .filter((node) => node.nodeType === 3)
              .map((node) => node.textContent ?? ""),
          ]),
        ].filter((text) => turning.test(text));
      });
    for (const id of ["calls", "ide", "sources", "files"]) {
      await page.goto(`${site.address}/#/t/hostile?m=${id}`);
      const article = page.locator(`article[data-place="${id}"]`);
      await article.waitFor();
      await article.evaluate(expandAll);
      await article.evaluate(expandAll); // what the first round has shown
      expect(await turning()).toEqual([]);
    }
    await page.goto(`${site.address}/#/t/large`);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Command palette" });
    await palette.getByText("txt.exe").first().waitFor();
    expect(await turning()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.goto(`${site.address}/#/t/hostile`);
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("button", { name: /^Single messages and parts/ }).click();
    await page.getByRole("checkbox", { name: /^Tool call: tool⟦/ }).waitFor();
    expect(await turning()).toEqual([]);
  });

  it("shows hidden characters", async () => {
    const page = await site.open("#/t/hostile?m=signs");
    await page.locator('article[data-place="signs"]').getByText("a⟦U+202E⟧txt.exe").waitFor();
  });

  it("does not widen the page", async () => {
    const page = await site.open("#/t/hostile?m=signs", { viewport: { width: 360, height: 700 } });
    await page.locator('article[data-place="signs"]').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it("may contain data as deep as the API accepts", async () => {
    const message = (depth: number) => ({
      id: `json${depth}`,
      role: "assistant",
      type: "text",
      content: { format: 2, parts: [{ type: "data", name: "deep", data: deepJson(depth) }] },
    });
    let depth = DEEP;
    const put = () =>
      site.api("POST", "api/threads/hostile/messages", [message(depth)]).then(
        () => true,
        (error: Error) => {
          // Rejected by the API, or not serializable here.
          expect(error.message).toMatch(/: 4\d\d |call stack/);
          return false;
        },
      );
    while (!(await put())) depth = Math.floor(depth / 2);
    expect(depth).toBeGreaterThan(50);
    const page = await site.open(`#/t/hostile?m=json${depth}`);
    await page.locator(`article[data-place="json${depth}"]`).waitFor();
    await expectUsable(page);
  });

  it(`shows ${MEGABYTES} MB in one line piece by piece`, async () => {
    const page = await site.open("#/t/large");
    const article = page.locator('article[data-place="big"]');
    await article.waitFor();
    await article.evaluate(expandAll);
    await page.getByText("<b>x</b>").first().waitFor();
    const length = await page.evaluate(() => document.body.textContent?.length ?? 0);
    expect(length).toBeLessThan(2_000_000);
    await expectUsable(page);
  });
});
