/** A thread that tries everything: nothing of it runs, nothing leaves, and the page still answers. */
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
const UNSEEN = "a\u202Etxt.exe\u202C b\u200Bc d\u2066e\u2069 \u0007\u001b[31mred\u001b[0m \u0000 end";
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
  message("signs", "user", [text(UNSEEN), text("W".repeat(50_000)), text("x ".repeat(25_000))]),
  message("deep", "assistant", [
    text(`${">".repeat(DEEP)} deep`),
    text(`${"- ".repeat(DEEP)}deep`),
    text(`${"[".repeat(DEEP)}deep`),
    text(`${"**".repeat(DEEP)}deep`),
    { type: "reasoning", text: `${"> ".repeat(DEEP)}deep` },
  ]),
  message("files", "user", [
    { type: "image", url: "https://evil.example/i.png", mediaType: "image/png", name: `<b>"'${UNSEEN}` },
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
    { type: "source-url", sourceId: "2", url: "https://evil.example/\u202Egnp.exe", title: UNSEEN },
    {
      type: "data",
      name: "__proto__",
      data: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}'),
    },
    { type: "constructor", toString: 1, hasOwnProperty: "x" },
  ]),
  message("calls", "assistant", [
    call("c1", "Bash", { command: `echo '${MARKUP[0]}'` }, `${UNSEEN}\n${MARKUP.join("\n")}`),
    call("c2", "__proto__", JSON.parse('{"__proto__":{"x":1}}'), MARKUP.join("\n")),
    call("c3", "WebFetch", { url: `javascript:${HIT}` }, LINKS.join("\n")),
    call("c4", "constructor", { toString: { valueOf: 1 } }, "]]>".repeat(1000)),
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

/** Opens whatever can be opened below an element. */
function openAll(element: Element): void {
  for (const button of element.querySelectorAll<HTMLElement>('button[aria-expanded="false"]')) button.click();
}

/** Presses what looks like a link and must be none. */
function pressAll(element: Element): void {
  for (const words of element.querySelectorAll<HTMLElement>("p span:not(a span)")) words.click();
}

/** Whether the page is what it was: no script of others ran, nothing of theirs is in it. */
async function untouched(page: Page): Promise<void> {
  const state = await page.evaluate(() => ({
    hit: (window as { __hit?: unknown }).__hit,
    polluted: ({} as { polluted?: unknown }).polluted,
    strangers: [...document.querySelectorAll("#root :is(script, style, link, meta, base, object, embed)")]
      .length,
    handlers: [...document.querySelectorAll("#root *")].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith("on")),
    ).length,
    frames: [...document.querySelectorAll("iframe")].map((frame) => frame.getAttribute("src")),
    links: [...document.querySelectorAll("#main a[href]")].map((link) => link.getAttribute("href") ?? ""),
  }));
  expect({ ...state, frames: undefined, links: undefined }).toEqual({ strangers: 0, handlers: 0 });
  expect(state.frames.filter((source) => source !== "mermaid.html")).toEqual([]);
  expect(state.links.filter((href) => !/^(?:#|https?:|mailto:|data:|blob:)/.test(href))).toEqual([]);
}

/** Whether somebody can still use it. */
async function answers(page: Page): Promise<void> {
  await untouched(page);
  await page.getByRole("button", { name: "Help (?)" }).click();
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
}

/** As deep as JSON may be, over the API; deeper is refused there. */
function deepJson(depth: number): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < depth; level += 1) value = level % 2 ? [value] : { in: value };
  return value;
}

describe("a hostile thread", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    const title = `<img src=x onerror="${HIT}"> ${UNSEEN.replace("\0", "")}`;
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

  it("is only looked at, whatever is opened in it", async () => {
    const page = await site.open("#/t/hostile");
    for (const { id } of MESSAGES) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/t/hostile?m=${id}`);
      const article = page.locator(`article[data-place="${id}"]`);
      await article.waitFor();
      await article.evaluate(openAll);
      if (id === "diagrams")
        await page
          .getByRole("button", { name: /the source/ })
          .first()
          .waitFor();
      if (id === "links") await article.evaluate(pressAll);
      await untouched(page);
    }
    await answers(page);
  });

  it("shows signs that hide", async () => {
    const page = await site.open("#/t/hostile?m=signs");
    await page.locator('article[data-place="signs"]').getByText("a⟦U+202E⟧txt.exe").waitFor();
  });

  it("does not widen the page", async () => {
    const page = await site.open("#/t/hostile?m=signs", { viewport: { width: 360, height: 700 } });
    await page.locator('article[data-place="signs"]').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it("may nest its data as deep as it is taken", async () => {
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
          // Refused, in words; or this side could not even write it.
          expect(error.message).toMatch(/: 4\d\d |call stack/);
          return false;
        },
      );
    while (!(await put())) depth = Math.floor(depth / 2);
    expect(depth).toBeGreaterThan(50);
    const page = await site.open(`#/t/hostile?m=json${depth}`);
    await page.locator(`article[data-place="json${depth}"]`).waitFor();
    await answers(page);
  });

  it(`gives ${MEGABYTES} MB in one line a piece at a time`, async () => {
    const page = await site.open("#/t/large");
    const article = page.locator('article[data-place="big"]');
    await article.waitFor();
    await article.evaluate(openAll);
    await page.getByText("<b>x</b>").first().waitFor();
    const drawn = await page.evaluate(() => document.body.textContent?.length ?? 0);
    expect(drawn).toBeLessThan(2_000_000);
    await answers(page);
  });
});
