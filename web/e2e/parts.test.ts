import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violations, violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

const TEXT = `# High water

The height is $h = A\\cos(\\omega t)$ and a ticket costs $5 or $10.

| moon | height |
|------|-------:|
| full | 5.2 m  |

- [x] measured
- [ ] checked

\`\`\`python
def height(day: int) -> float:
    return 4.2  # metres
\`\`\`

$$\\int_0^1 x\\,dx = \\frac{1}{2}$$

![buoy](https://pictures.example/buoy.png) and [a page](https://example.org/page).
`;

const DIAGRAM =
  "```mermaid\ngraph LR\n  Moon --> Sea\n```\n\nand one that is none:\n\n```mermaid\ngraph LR\n  a --- [\n```";

const DOT = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC`;
const PDF = [
  "%PDF-1.4",
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
  "2 0 obj<</Type/Pages/Kids[3 0 R 6 0 R]/Count 2>>endobj",
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj",
  "6 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj",
  "4 0 obj<</Length 42>>stream\nBT /F1 24 Tf 40 100 Td (High water) Tj ET\nendstream endobj",
  "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj",
  "trailer<</Root 1 0 R>>",
].join("\n");

const message = (id: string, role: string, parts: unknown[], content: object = {}) => ({
  id,
  role,
  type: "text",
  createdAt: "2026-03-01T10:00:00Z",
  content: { format: 2, parts, ...content },
});

const TIDES = [
  message("u1", "user", [
    { type: "text", text: "When is high water?" },
    { type: "image", url: DOT, mediaType: "image/png", name: "harbour.png" },
    {
      type: "file",
      url: `data:application/pdf;base64,${btoa(PDF)}`,
      mediaType: "application/pdf",
      filename: "t.pdf",
    },
  ]),
  message(
    "a1",
    "assistant",
    [
      { type: "reasoning", text: "The moon first.", state: "done", tokenCount: 12 },
      { type: "text", text: TEXT },
      { type: "source-url", sourceId: "s1", url: "https://example.org/tides", title: "Tide tables" },
      { type: "source-document", sourceId: "s2", mediaType: "application/pdf", title: "Almanac" },
      { type: "data", name: "weather", data: { wind: 3 } },
    ],
    { metadata: { model: "tide-2" }, usage: { inputTokens: 1200, outputTokens: 34 } },
  ),
];

const IDE = `# Context from my IDE setup:

## Active file: src/lamp.py

## My request for Codex:
Trim the **lamp**
`;
const LINES = Array.from({ length: 240 }, (_, at) => `- line ${at + 1}`).join("\n");
const LONG = [
  message("l1", "user", [{ type: "text", text: IDE }]),
  message("l2", "assistant", [
    { type: "text", text: "Trimmed." },
    { type: "reasoning", text: LINES, state: "done" },
    {
      type: "tool-call",
      id: "c9",
      name: "Bash",
      state: "output-available",
      input: { command: "seq 240" },
      output: { type: "text", value: LINES.replaceAll("- ", "") },
    },
  ]),
  message("l3", "user", [{ type: "text", text: LINES }]),
  message("l4", "assistant", [{ type: "text", text: `Done. a -> b\n\n${"Words. ".repeat(2000)}` }]),
];

const INNER = message("i1", "assistant", [{ type: "text", text: "Found it in the almanac." }]);
const NESTED = [
  message("u2", "user", [{ type: "text", text: "Ask the others" }]),
  message("a2", "assistant", [
    {
      type: "tool-call",
      id: "c1",
      name: "Task",
      state: "output-available",
      input: { prompt: "Look it up" },
      output: { type: "text", value: "Found it." },
      children: [message("i0", "user", [{ type: "text", text: "Look it up" }]), INNER],
    },
  ]),
  message("a3", "assistant", [], {
    networkExecution: {
      primitiveType: "agent",
      primitiveId: "sky",
      selectionReason: "It knows the rain.",
      input: "Oslo?",
      iteration: 0,
      finalResult: {
        text: "It rains.",
        messages: [
          message("n0", "user", [{ type: "text", text: "Oslo?" }]),
          message("n1", "assistant", [{ type: "text", text: "Wet." }]),
        ],
      },
    },
  }),
  message("a4", "assistant", [], {
    networkExecution: { primitiveType: "agent", primitiveId: "sea", finalResult: { text: "It is calm." } },
  }),
];

describe("the parts of a message", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
    await site.seed([
      { thread: { id: "tides", title: "Tides" }, messages: TIDES },
      {
        thread: { id: "diagram", title: "Diagram" },
        messages: [message("d1", "assistant", [{ type: "text", text: DIAGRAM }])],
      },
      { thread: { id: "nested", title: "Others" }, messages: NESTED },
      { thread: { id: "long", title: "Long" }, messages: LONG },
    ]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("include Markdown, highlighted code, maths, reasoning and sources", async () => {
    const page = await site.open("#/t/tides");
    await page.getByRole("heading", { name: "High water" }).waitFor();
    await page.getByRole("cell", { name: "5.2 m" }).waitFor();
    await page.locator("pre span", { hasText: /^def$/ }).waitFor();
    await page.locator("math mfrac").waitFor();
    expect(await page.locator("math").count()).toBe(2);
    expect(await page.getByText("costs $5 or $10").count()).toBe(1);
    const keyword = page.locator("pre span", { hasText: /^def$/ });
    const colours = await keyword.evaluate((span) => [
      getComputedStyle(span).color,
      getComputedStyle(span.closest("pre") as Element).color,
    ]);
    expect(colours[0]).not.toBe(colours[1]);

    // Remote images are not loaded.
    await page.getByRole("link", { name: /Open image from pictures.example/ }).waitFor();
    expect(site.foreign).toEqual([]);

    const head = page.getByRole("button", { name: /Reasoning.*12 tokens/ });
    await head.waitFor();
    expect(await page.getByText("The moon first.").count()).toBe(0);
    await head.click();
    await page.getByText("The moon first.").waitFor();

    const link = page.getByRole("link", { name: /Tide tables/ });
    expect(await link.getAttribute("href")).toBe("https://example.org/tides");
    expect(await link.getAttribute("rel")).toContain("noopener");
    await page.getByText("Almanac").waitFor();
  });

  it("have a head with the time of day of an old message", async () => {
    const page = await site.open("#/t/tides?m=a1");
    await page.locator('article[data-place="a1"] time', { hasText: "1 Mar 2026, 10:00" }).waitFor();
  });

  it("include a diagram in a frame, and the error of an invalid one", async () => {
    const page = await site.open("#/t/diagram");
    const frame = page.frameLocator('iframe[title="Diagram"]').first();
    await frame.locator("svg").getByText("Moon").waitFor();
    await page.getByRole("button", { name: "Show source" }).click();
    await page.locator("pre", { hasText: "Moon --> Sea" }).waitFor();
    await page.getByText(/This diagram cannot be rendered: Parse error/).waitFor();
    const height = await page.locator('iframe[title="Diagram"]').evaluate((it) => it.clientHeight);
    expect(height).toBeGreaterThan(30);
    // No origin: the frame has no access to the page.
    expect(await page.locator('iframe[title="Diagram"]').getAttribute("sandbox")).toBe("allow-scripts");
  });

  it("include an image that can be enlarged, and the pages of a PDF", async () => {
    const page = await site.open("#/t/tides?m=u1");
    await page.getByRole("button", { name: "harbour.png" }).click();
    await page.getByRole("dialog", { name: "harbour.png" }).getByRole("img").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    // The list sticks to its end until the user scrolls: the button would move.
    await page.getByRole("region", { name: "Messages" }).hover();
    await page.mouse.wheel(0, -60);
    await page.getByRole("button", { name: "Preview", expanded: false }).click();
    await page.getByRole("button", { name: "Close", expanded: true }).waitFor();
    await page.getByText("Page 1 of 2").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("Page 2 of 2").waitFor();
    await page.waitForFunction(() => {
      const canvas = document.querySelector("canvas");
      const data = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
      return data?.some((value, index) => index % 4 === 0 && value < 100) ?? false;
    });
    expect(page.workers().map((one) => one.url())).toEqual([expect.stringMatching(/\/assets\/pdf\.worker/)]);
    await page.getByRole("button", { name: "Close", expanded: true }).click();
    await expect.poll(() => page.workers().length).toBe(0);
  });

  it("cannot start another worker or create another Trusted Types policy", async () => {
    const page = await site.open("#/t/tides", { expected: [/Trusted|trusted-types/] });
    const refused = await page.evaluate(() => {
      const policies = (
        globalThis as unknown as { trustedTypes: { createPolicy: (...given: unknown[]) => void } }
      ).trustedTypes;
      const rules = { createScriptURL: (url: string) => url };
      return [
        () => new Worker(document.querySelector("script")?.src ?? ""),
        () => new Worker("data:text/javascript,0"),
        () => policies.createPolicy("other", rules),
        () => policies.createPolicy("default", rules),
      ].map((attempt) => {
        try {
          attempt();
          return "allowed";
        } catch (error) {
          return (error as Error).name;
        }
      });
    });
    expect(refused).toEqual(["TypeError", "TypeError", "TypeError", "TypeError"]);
  });

  it("can be copied, with permalinks", async () => {
    const page = await site.open("#/t/tides", { permissions: ["clipboard-read", "clipboard-write"] });
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const part = page.locator('[data-place="a1/1"]');
    await part.hover();
    await part.getByRole("button", { name: "Copy this part" }).click();
    await expect.poll(clipboard).toBe(TEXT);
    await part.getByRole("button", { name: "Copy link to this part" }).click();
    await expect.poll(clipboard).toContain("#/t/tides?m=a1&p=1");
    const article = page.locator('article[data-place="a1"]');
    await article.hover();
    await article.getByRole("button", { name: "Copy this message as Markdown" }).click();
    await expect.poll(clipboard).toContain("## Assistant\n\n> The moon first.");
  });

  it("of a sub-agent are expanded if a link leads to them", async () => {
    const page = await site.open("#/t/nested?m=a2&p=0.children.1.0");
    await page.locator('[id="part-a2-0.children.1.0"]').getByText("Found it in the almanac.").waitFor();
  });

  it("include the primitive, the reason and the result of a network", async () => {
    const page = await site.open("#/t/nested?m=a3");
    await page.getByText("It knows the rain.").waitFor();
    await page.getByText("It rains.").waitFor();
    expect(await page.locator('article[data-place="a3"]').getByText("Oslo?").count()).toBe(1);
    await page.getByRole("button", { name: "2 messages Wet." }).click();
    await page.getByText("Wet.", { exact: true }).last().waitFor();
    await page.getByText("It is calm.").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("show what the user wrote apart from what an editor added", async () => {
    const page = await site.open("#/t/long?m=l1", { permissions: ["clipboard-read", "clipboard-write"] });
    const prompt = page.locator('article[data-place="l1"]');
    await prompt.getByText("lamp", { exact: true }).waitFor();
    expect(await prompt.getByRole("heading").allTextContents()).toEqual(["User"]);
    expect(await prompt.getByText("Active file").count()).toBe(0);
    await prompt.getByRole("button", { name: /^Context from my IDE setup 1 line/ }).click();
    await prompt.getByText("## Active file: src/lamp.py").waitFor();
    await prompt.hover();
    await prompt.getByRole("button", { name: "Copy this message as Markdown" }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toContain("## User\n\nTrim the **lamp**\n\n<details>\n<summary>Context from my IDE setup</summary>");
  });

  it("are cut if they are long, and expand in place", async () => {
    const page = await site.open("#/t/long?m=l3");
    const prompt = page.locator('article[data-place="l3"]');
    const more = prompt.getByRole("button", { name: "Show all 240 lines" });
    await more.waitFor();
    const height = async () => (await prompt.boundingBox())?.height ?? 0;
    const cut = await height();
    expect(cut).toBeLessThan(600);
    const top = async () => (await prompt.boundingBox())?.y ?? 0;
    const before = await top();
    await more.click();
    const less = prompt.getByRole("button", { name: "Show less" });
    await expect.poll(height).toBeGreaterThan(3000);
    await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(3);
    await less.scrollIntoViewIfNeeded();
    const place = (await less.boundingBox())?.y ?? 0;
    await less.click();
    await expect.poll(height).toBe(cut);
    await expect.poll(async () => Math.abs(((await more.boundingBox())?.y ?? 0) - place)).toBeLessThan(3);

    const response = page.locator('article[data-place="l2"]');
    await page.goto(`${site.address}/#/t/long?m=l2`);
    await response.getByRole("button", { name: /^Reasoning/ }).click();
    await response.getByRole("button", { name: /^Shell/ }).click();
    expect(await response.getByRole("button", { name: "Show all 240 lines" }).count()).toBe(2);
  });

  it("do not scroll back from a message that is opened right after they expand", async () => {
    const page = await site.open("#/t/long?m=l3");
    const more = page.locator('article[data-place="l3"]').getByRole("button", { name: "Show all 240 lines" });
    await more.waitFor();
    const opened = page.locator('[data-message="l1"]');
    await more.evaluate((button) => {
      (button as HTMLElement).click();
      location.hash = "#/t/long?m=l1";
    });
    await opened.waitFor();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 700))); // until nothing moves any more
    const list = await page.getByRole("region", { name: "Messages" }).boundingBox();
    expect(Math.abs(((await opened.boundingBox())?.y ?? 0) - (list?.y ?? 0))).toBeLessThan(40);
  });

  it("do not stop the wheel over an output", async () => {
    const page = await site.open("#/t/long?m=l2&p=2");
    const box = page.getByRole("group", { name: "Output" });
    await box.waitFor();
    const list = page.getByRole("region", { name: "Messages" });
    await list.hover();
    await page.mouse.wheel(0, -60);
    await box.hover();
    const before = await list.evaluate((it) => it.scrollTop);
    await page.mouse.wheel(0, 120);
    await expect.poll(() => list.evaluate((it) => it.scrollTop)).toBeGreaterThan(before);
    expect(await box.evaluate((it) => it.scrollTop)).toBe(0);
  });

  it("have no ligatures", async () => {
    const page = await site.open("#/t/long?m=l2&p=2");
    await page.getByRole("group", { name: "Output" }).waitFor();
    const others = await page.evaluate(() =>
      [...document.querySelectorAll("body *")]
        .filter((it) => getComputedStyle(it).fontVariantLigatures !== "none")
        .map((it) => it.outerHTML.slice(0, 100)),
    );
    expect(others).toEqual([]);
  });

  it("follow the density and the width that the user has chosen", async () => {
    const page = await site.open("#/t/long?m=l1", { viewport: { width: 1700, height: 800 } });
    const prompt = page.locator('article[data-place="l1"]');
    await prompt.waitFor();
    const size = async () => (await prompt.boundingBox()) ?? { width: 0, height: 0 };
    const before = await size();
    await page.evaluate(() =>
      localStorage.setItem("partita.preferences", JSON.stringify({ density: "compact", width: "full" })),
    );
    await page.reload();
    await prompt.waitFor();
    const after = await size();
    expect(after.height).toBeLessThan(before.height - 8);
    expect(after.width).toBeGreaterThan(before.width + 200);
  });

  it("of the user stand out from the page in both themes", async () => {
    const page = await site.open("#/t/long?m=l1");
    const prompt = page.locator('article[data-place="l1"]');
    await prompt.waitFor();
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForFunction((it) => document.documentElement.dataset.theme === it, theme);
      const [bubble, ground] = await prompt.evaluate((it) =>
        [it, document.body].map((one) =>
          (getComputedStyle(one).backgroundColor.match(/\d+/g) ?? [])
            .slice(0, 3)
            .reduce((sum, value) => sum + Number(value), 0),
        ),
      );
      const difference = (bubble ?? 0) - (ground ?? 0);
      expect(theme === "light" ? -difference : difference).toBeGreaterThan(30);
    }
  });

  it("of a network and a sub-agent show their prompt once", async () => {
    const page = await site.open("#/t/nested?m=a2&p=0");
    const card = page.locator('article[data-place="a2"] [data-tool-kind="agent"]').first();
    await card.getByRole("heading", { name: "User" }).waitFor();
    expect(await card.getByRole("paragraph").getByText("Look it up").count()).toBe(1);
  });

  it.each([
    [1280, violationsInBoth],
    [360, violations],
  ] as const)("have no accessibility violations at %i px", async (width, found) => {
    const page = await site.open("#/t/tides", { viewport: { width, height: 800 } });
    await page.locator("math mfrac").waitFor();
    await page.getByRole("button", { name: /Reasoning/ }).click();
    expect(await found(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });
});
