// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { COLLAPSED_LINES, Code, truncate } from "../../src/markdown/Code";
import { decodeEntities } from "../../src/markdown/entities";
import { hiddenHost } from "../../src/markdown/Link";
import { Markdown } from "../../src/markdown/Markdown";
import { parseResponse } from "../../src/markdown/mermaidMessages";

const drawn = vi.hoisted(() => {
  vi.resetModules(); // files share their modules, and this one needs others
  return { blocks: [] as string[] };
});
vi.mock("../../src/markdown/BlockTokens", async (original) => {
  const real = await original<typeof import("../../src/markdown/BlockTokens")>();
  return {
    BlockTokens: (props: Parameters<typeof real.BlockTokens>[0]) => {
      drawn.blocks.push(props.tokens.map((token) => token.raw).join(""));
      return <real.BlockTokens {...props} />;
    },
  };
});

afterEach(cleanup);
afterAll(() => {
  vi.doUnmock("../../src/markdown/BlockTokens");
  vi.resetModules();
});

const show = (text: string, live = false) => render(<Markdown text={text} live={live} />);

describe("Markdown", () => {
  it("renders a table with its alignment", () => {
    show("| a | b |\n|---|--:|\n| 1 | **2** |");
    const cells = within(screen.getByRole("table")).getAllByRole("cell");
    expect(cells.map((cell) => cell.textContent)).toEqual(["1", "2"]);
    expect(cells[1]?.style.textAlign).toBe("right");
    expect(screen.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual(["a", "b"]);
  });

  it("renders tasks, strikethrough and footnotes", () => {
    const { container } = show("- [x] done\n- [ ] open\n\n~~old~~ new[^a]\n\n[^a]: why");
    expect(screen.getByRole("img", { name: "Done:" })).toBeTruthy();
    expect(screen.getByRole("img", { name: "To do:" })).toBeTruthy();
    expect(container.querySelector("del")?.textContent).toBe("old");
    expect([...container.querySelectorAll("sup")].map((one) => one.textContent)).toEqual(["a", "a"]);
  });

  it("gives all headings of a text the same level", () => {
    show("### deep\n\n# high");
    expect(screen.getAllByRole("heading", { level: 3 }).map((one) => one.textContent)).toEqual([
      "deep",
      "high",
    ]);
  });

  it("resolves link definitions at the end of the text", () => {
    show("see [it][x]\n\nmore\n\n[x]: https://example.org/y");
    expect(screen.getByRole("link", { name: "it" }).getAttribute("href")).toBe("https://example.org/y");
  });

  it("keeps line breaks with `breaks`", () => {
    const { container } = render(<Markdown text={"a\nb"} live={false} breaks />);
    expect(container.querySelectorAll("br").length).toBe(1);
  });

  it("shows the whole info string of a fence", () => {
    const { container } = show("```go// the first position\nlet a\n```");
    expect(container.textContent).toContain("go// the first position");
  });

  it("renders code while its fence is open", () => {
    const { container } = show("text\n\n```js\nlet a", true);
    expect(container.querySelector("pre code")?.textContent).toBe("let a");
  });

  it.each([
    ["a &amp; b &#39;c&#x27; &lt;", "a & b 'c' <"],
    ["&nope; &#0; &#1114112;", "&nope; \ufffd \ufffd"],
  ])("decodes %s", (text, wanted) => {
    expect(decodeEntities(text)).toBe(wanted);
  });
});

describe("HTML in a text", () => {
  it.each([
    "<script>window.__hit = 1</script>",
    '<img src=x onerror="window.__hit = 1">',
    "<iframe src='https://example.org'></iframe>",
    "words <b onclick=alert(1)>bold</b> words",
    "<style>* { display: none }</style>",
    "<svg onload=alert(1)><a href='javascript:1'>x</a></svg>",
    '<meta http-equiv="refresh" content="0;url=https://example.org">',
  ])("is displayed as text: %s", (text) => {
    const { container } = show(text);
    expect(container.textContent).toContain(text);
    expect(container.querySelector("script, img, iframe, b, style, svg, meta, a")).toBeNull();
  });
});

describe("links", () => {
  it.each(["https://example.org/a", "http://example.org/", "mailto:a@example.org"])("lead to %s", (href) => {
    show(`[words](${href})`);
    const link = screen.getByRole("link", { name: "words" });
    expect(link.getAttribute("href")).toBe(href);
    expect(link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    expect(link.getAttribute("target")).toBe("_blank");
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "&#106;avascript:alert(1)",
    "data:text/html,<script>1</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.org/x",
    "//example.org/x",
    "/relative",
  ])("are not links: %s", (href) => {
    const { container } = show(`[words](<${href}>)`);
    expect(container.querySelector("a")).toBeNull();
    expect(container.textContent).toContain("words");
  });

  it.each([
    ["src/oven.ts:12", true],
    ["src/oven.ts:12:4", true],
    ["C:\\\\bread\\\\oven.ts", true],
    ["file:///bread/oven%20door.ts#L3-L9", true],
    ["README", true],
    ["../../etc/passwd", false],
    ["javascript:12", false],
    ["data:text/html,1", false],
  ])("to %s, a file or not, show their target only if it is not a file", (href, isFile) => {
    const { container } = show(`[oven.ts:12](<${href}>)`);
    expect(container.textContent === "oven.ts:12").toBe(isFile);
  });

  it.each([
    ["https://evil.example/x", "https://good.example", "evil.example"],
    ["https://evil.example/x", "paypal.com", "evil.example"],
    ["https://good.example/x", "https://good.example/x", null],
    ["https://www.good.example/", "good.example", null],
    ["https://nodejs.org/", "Node.js", null],
    ["https://example.org/", "plain words", null],
  ])("to %s show their host if their text names another: %s", (href, text, wanted) => {
    expect(hiddenHost(href, text)).toBe(wanted);
  });
});

describe("images", () => {
  it("on other hosts are not loaded, but linked", () => {
    const { container } = show("![cat](https://pictures.example/cat.png)");
    expect(container.querySelector("img")).toBeNull();
    expect(screen.getByRole("link", { name: /Open image from pictures.example/ })).toBeTruthy();
  });

  it("in the text are displayed, unless their type can contain scripts", () => {
    const { container } = show("![a](data:image/png;base64,AAAA) ![b](data:image/svg+xml;base64,AAAA)");
    expect([...container.querySelectorAll("img")].map((one) => one.alt)).toEqual(["a"]);
  });
});

describe("a streaming text", () => {
  it("renders only its last blocks again", () => {
    const start = Array.from({ length: 50 }, (_, index) => `Paragraph ${index}.\n\n`).join("");
    const { rerender } = render(<Markdown text={start} live />);
    drawn.blocks.length = 0;
    let text = start;
    for (let chunk = 0; chunk < 200; chunk += 1) {
      text += ` word${chunk}`;
      rerender(<Markdown text={text} live />);
    }
    expect(drawn.blocks.length).toBeGreaterThan(150);
    expect(drawn.blocks.length).toBeLessThanOrEqual(201);
    expect(drawn.blocks.every((source) => source.includes("word0"))).toBe(true);
    rerender(<Markdown text={text} live={false} />);
    expect(drawn.blocks.length).toBeLessThanOrEqual(201);
  });

  it("ends like the same text rendered at once", () => {
    const text = "# a\n\n- b\n- c\n\n```\nd\n```\n\n| e |\n|---|\n| f |\n";
    const { container, rerender } = render(<Markdown text="" live />);
    for (let end = 1; end <= text.length; end += 1) rerender(<Markdown text={text.slice(0, end)} live />);
    rerender(<Markdown text={text} live={false} />);
    const streamed = container.innerHTML;
    cleanup();
    expect(streamed).toBe(show(text).container.innerHTML);
  });
});

describe("long texts", () => {
  it("are rendered page by page", () => {
    show("word ".repeat(50_000));
    fireEvent.click(screen.getByRole("button", { name: /Show more of 250 KB/ }));
    expect(screen.queryByRole("button", { name: /Show more/ })).toBeNull();
  });

  it("have collapsed code", () => {
    const text = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
    const { container } = render(<Code text={text} />);
    expect(container.querySelector("code")?.textContent?.split("\n").length).toBe(COLLAPSED_LINES);
    fireEvent.click(screen.getByRole("button", { name: "Show all 100 lines" }));
    expect(container.querySelector("code")?.textContent).toBe(text);
    fireEvent.click(screen.getByRole("button", { name: "Show less" }));
    expect(container.querySelector("code")?.textContent?.split("\n").length).toBe(COLLAPSED_LINES);
  });

  it.each([
    ["a\nb\nc", 2, 100, "a\nb", "Show all 3 lines"],
    ["a\nb", 2, 100, "a\nb", null],
    ["aaaa", 2, 3, "aaa", "Show more of 4 B"],
  ])("are truncated: %j after %i lines and %i characters", (text, lines, length, shown, hidden) => {
    expect(truncate(text, lines, length)).toEqual({ shown, hidden });
  });
});

describe("a message of the frame of a diagram", () => {
  it.each([
    [
      { type: "drawn", height: 120.4 },
      { type: "drawn", height: 121 },
    ],
    [
      { type: "drawn", height: 1e9 },
      { type: "drawn", height: 3000 },
    ],
    [
      { type: "drawn", height: -5 },
      { type: "drawn", height: 24 },
    ],
    [{ type: "drawn", height: Number.NaN }, null],
    [{ type: "drawn", height: "120" }, null],
    [
      { type: "failed", message: "x".repeat(900) },
      { type: "failed", message: "x".repeat(500) },
    ],
    [{ type: "other" }, null],
    ["drawn", null],
    [null, null],
  ])("is validated: %j", (message, wanted) => {
    expect(parseResponse(message)).toEqual(wanted);
  });
});
