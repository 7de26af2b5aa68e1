import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violations, violationsInBoth } from "./setup/axe";
import { openFile } from "./setup/file";
import { python, type Site, serve } from "./setup/site";

const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const PASSWORD = "correct7horse";
const HOSTILE =
  "</script><script>document.title='broken'</script><!-- <img src=https://evil.example/x.png onerror=alert(1)> " +
  "[press](javascript:alert(1)) ![remote](https://evil.example/y.png) \u202egnp.exe";
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const MESSAGES = [
  {
    id: "m1",
    role: "user",
    content: {
      format: 2,
      parts: [
        { type: "text", text: `Deploy the beacon with ${TOKEN}. ${HOSTILE}` },
        { type: "file", url: PIXEL, mediaType: "image/png", filename: "beacon.png" },
      ],
    },
  },
  {
    id: "m2",
    role: "assistant",
    content: {
      format: 2,
      parts: [
        { type: "reasoning", text: "A quiet thought about fog." },
        {
          type: "tool-call",
          id: "c1",
          name: "Bash",
          state: "output-available",
          input: { command: `DB_PASSWORD=${PASSWORD} make deploy` },
          output: { type: "text", value: `connected with ${PASSWORD}\n</script>` },
          children: [
            {
              id: "k1",
              role: "assistant",
              content: { format: 2, parts: [{ type: "text", text: `Sub ${TOKEN}` }] },
            },
          ],
        },
        { type: "text", text: "The beacon **shines**.\n\n```mermaid\ngraph TD; A-->B\n```\n\nMaths: $a^2$" },
      ],
    },
  },
];

describe("the share dialog", () => {
  let site: Site;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "partita-share-"));
    site = await serve();
    await site.seed([{ thread: { id: "t1", title: "A beacon in the fog" }, messages: MESSAGES }]);
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(async () => {
    await site.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (options = {}) => {
    const page = await site.open("#/t/t1", options);
    await page.getByText("shines").first().waitFor();
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("dialog", { name: "Share this session" }).waitFor();
    await page.getByText("[redacted: github token 1]").waitFor();
    return page;
  };
  const download = async (page: Page): Promise<string> => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download", exact: true }).click(),
    ]);
    const path = join(folder, file.suggestedFilename());
    await file.saveAs(path);
    return path;
  };
  const clean = (path: string) => {
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain(PASSWORD);
    return text;
  };

  it("creates an HTML file without requests, in which no script of the content runs", async () => {
    const path = await download(await open());
    const text = clean(path);
    expect(text.length).toBeLessThan(1_200_000);
    const { page, requests, problems, close } = await openFile(path);
    await page.getByRole("heading", { level: 1, name: "A beacon in the fog" }).waitFor();
    await page.getByText("shines").waitFor();
    await page.getByText("[redacted: github token 1]").first().waitFor();
    await page.getByText("2 secrets were replaced").waitFor();
    await page.getByText("graph TD").first().waitFor();
    await page.locator("math").first().waitFor({ state: "attached" });
    await page.locator('img[src^="data:image/png"]').waitFor();
    await page.getByRole("button", { name: "Dark colours" }).click();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    expect(await page.title()).toBe("A beacon in the fog");
    expect(await page.locator("a[href^=javascript]").count()).toBe(0);
    expect(await page.locator("iframe").count()).toBe(0);
    expect(requests).toEqual([`file://${path}`]);
    expect(problems).toEqual([]);
    await close();
  });

  it.each(["light", "dark"] as const)(
    "creates a file without accessibility violations in the %s theme",
    async (theme) => {
      const path = join(folder, `${theme}.html`);
      const response = await fetch(new URL("api/threads/t1/share", site.address), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ format: "html" }),
      });
      writeFileSync(path, await response.text());
      const { page, problems, close } = await openFile(path, { colorScheme: theme });
      await page.getByText("shines").waitFor();
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    },
  );

  it("creates a file that is copied as Markdown, also where the page has no access to the clipboard", async () => {
    const path = await download(await open());
    const { page, problems, close } = await openFile(path, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const copy = async () => {
      await page.getByRole("button", { name: "Copy as Markdown" }).click();
      await page.getByText("Copied as Markdown").first().waitFor();
      return page.evaluate(() => (window as unknown as { kept: Clipboard }).kept.readText());
    };
    await page.evaluate(() => Object.assign(window, { kept: navigator.clipboard }));
    const copied = await copy();
    expect(copied.startsWith("# A beacon in the fog\n\n## User\n\nDeploy the beacon with")).toBe(true);
    expect(copied).toContain("The beacon **shines**.");
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
      return (window as unknown as { kept: Clipboard }).kept.writeText("");
    });
    expect(await copy()).toBe(copied);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Copy as Markdown");
    expect(problems).toEqual([]);
    await close();
  });

  it("creates Markdown, JSON lines and a fixture that can be parsed", async () => {
    const page = await open();
    await page.getByRole("radio", { name: /Markdown/ }).check();
    await page.getByText(/\.md ·/).waitFor();
    expect(clean(await download(page))).toContain("# A beacon in the fog");
    await page.getByRole("radio", { name: /JSON lines/ }).check();
    await page.getByLabel("Message format").selectOption("ai-sdk-ui-v7");
    await page.getByText(/\.jsonl ·/).waitFor();
    const lines = await download(page);
    clean(lines);
    await page.getByRole("radio", { name: /Test fixture/ }).check();
    await page.getByText(/\.fixture\.json ·/).waitFor();
    const fixture = await download(page);
    clean(fixture);
    const output = await python(
      "import sys, json\n" +
        "from partita.formats.registry import get_format\n" +
        "from partita.types.codec import MESSAGES\n" +
        "lines = [json.loads(line) for line in open(sys.argv[1])]\n" +
        "print([m.id for m in get_format('ui').load(lines).messages])\n" +
        "held = json.load(open(sys.argv[2]))\n" +
        "print([m.id for m in MESSAGES.read(held['messages'])], held['origin']['title'])\n",
      lines,
      fixture,
    );
    expect(output).toBe("['m1', 'm2']\n['m1', 'm2'] A beacon in the fog\n");
  });

  it("keeps deselected secrets, redacts other texts, and leaves out deselected parts", async () => {
    const page = await open();
    await page.getByRole("radio", { name: /Markdown/ }).check();
    await page.getByRole("checkbox", { name: /github token 1/ }).uncheck();
    await page.getByText("not redacted").waitFor();
    await page.getByLabel(/Other texts/).fill("beacon\n/f[aeiou]g/");
    await page.getByText("[redacted: custom 2]").first().waitFor();
    await page.getByRole("checkbox", { name: "Reasoning", exact: true }).uncheck();
    await page.getByText("reasoning, 1 time").waitFor();
    await page.getByRole("button", { name: "Single messages and parts: all included" }).click();
    await page.getByRole("checkbox", { name: "Tool call: Bash" }).uncheck();
    await page.getByText("a part, 1 time").waitFor();
    const text = readFileSync(await download(page), "utf8");
    expect(text).toContain(TOKEN);
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain("beacon");
    expect(text).not.toContain("quiet thought");
    expect(text).toContain("[left out: a part]");
  });

  it("shows an error for an invalid pattern", async () => {
    const page = await open({ expected: [/400/] });
    await page.getByLabel(/Other texts/).fill("/(a+)+/");
    await page
      .getByRole("alert")
      .getByText(/the pattern has something/)
      .waitFor();
    expect(await page.getByRole("button", { name: "Download", exact: true }).isDisabled()).toBe(true);
  });

  it("has no accessibility violations in both themes", async () => {
    const page = await open();
    expect(await violationsInBoth(page)).toEqual([]);
  });
});
