import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { marked } from "./setup/marks";
import { type Site, serve } from "./setup/site";

const call = (name: string, input: object, output: string, more: object = {}) => ({
  type: "tool-call",
  id: `call-${name}`,
  name,
  state: "output-available",
  input,
  output: { type: "text", value: output },
  ...more,
});
const lines = (count: number, word = "", at = -1) =>
  Array.from({ length: count }, (_, line) => (line === at ? `the ${word} line` : `line ${line}`)).join("\n");
const edit = (before: string, after: string) =>
  call("Edit", { file_path: "/srv/a.py", old_string: before, new_string: after }, "Edited.");
const deep = (value: unknown, levels: number): unknown =>
  levels ? { [`level${levels}`]: deep(value, levels - 1) } : value;
const text = (content: string) => ({ type: "text", text: content });
const fenced = (code: string) => `Review this.\n\n\`\`\`diff\n${code}\n\`\`\`\n`;
const PROMPT = fenced(lines(120, "harbour", 110));

/** Where the word is hidden, the parts of the message, and the path of the part with the word. */
const KINDS: Readonly<Record<string, readonly [content: object | readonly object[], path?: string]>> = {
  "an unchanged line that a diff leaves out": [
    edit(`${lines(80, "harbour", 3)}\nold`, `${lines(80, "harbour", 3)}\nnew`),
  ],
  "the last lines of a long diff": [
    call("Write", { file_path: "/srv/b.py", content: lines(900, "harbour", 880) }, "Written."),
  ],
  "the end of a long line of a diff": [edit("old", `${"wind ".repeat(900)}harbour`)],
  "a collapsed level of a tree": [call("measure", { where: deep(["a", "b", "the harbour"], 6) }, "Done.")],
  "a later page of a tree": [
    call(
      "measure",
      { ships: Array.from({ length: 450 }, (_, at) => (at === 420 ? "harbour" : `ship ${at}`)) },
      "Done.",
    ),
  ],
  "the end of a long string of a tree": [
    call("measure", { note: `${"gull ".repeat(6000)}harbour` }, "Done."),
  ],
  "a name in a tree": [call("measure", { where: deep({ harbour: 1 }, 5) }, "Done.")],
  "the output of a tool as JSON": [call("measure", {}, JSON.stringify(deep({ at: "harbour" }, 5)))],
  "long code of an answer": [text(fenced(lines(90, "harbour", 80)))],
  "long code in the prompt of a sub-agent": [
    call("Task", { description: "Review", prompt: PROMPT }, "Fine.", {
      children: [
        { id: "s1", role: "user", content: [text(PROMPT)] },
        { id: "s2", role: "assistant", content: [text("Fine.")] },
      ],
    }),
    "0.children.0.0",
  ],
  "the prompt of a call that its sub-agent repeats": [
    call("Task", { description: "Review", prompt: PROMPT }, "Fine.", {
      children: [{ id: "s1", role: "user", content: [text(PROMPT)] }],
    }),
  ],
  "a parameter that the card does not display": [call("Bash", { command: "ls", note: "harbour" }, "a")],
  "the address of a link": [text("See [the map](https://example.org/harbour/map).")],
  "a result of a search that is not shown": [
    call(
      "Grep",
      { pattern: "o", output_mode: "content" },
      Array.from({ length: 300 }, (_, at) => `src/f${at}.py:1:${at === 290 ? "harbour" : "row"}`).join("\n"),
    ),
  ],
  "a line that scrolls sideways": [text(fenced(`${"wave ".repeat(200)}harbour`))],
  "a command that the head of its card cuts off": [
    call("Bash", { command: `echo ${"wind ".repeat(100)}harbour` }, "a"),
  ],
};

const FILLER = text("Wind, waves and gulls. ".repeat(60));

describe("a search hit shows its word", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    const messages = Object.values(KINDS).flatMap(([content], at) => [
      { id: `q${at}`, role: "user", content: [FILLER] },
      { id: `k${at}`, role: "assistant", content: [content].flat() },
    ]);
    await site.seed([{ thread: { id: "port", title: "At the port" }, messages }]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it.each(Object.keys(KINDS))("in %s", async (kind) => {
    const at = Object.keys(KINDS).indexOf(kind);
    const path = KINDS[kind]?.[1] ?? "0";
    const page = await site.open(`#/t/port?m=k${at}&p=${path}&q=harbour`);
    await expect
      .poll(() => marked(page, "find-current"), { timeout: 8000 })
      .toEqual([{ text: "harbour", part: `k${at}/${path}`, seen: true, clear: true }]);
  });
});
