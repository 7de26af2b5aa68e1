/** Exported HTML files contain every message of every recording and make no requests. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expandAll, imagesIn, missingIn, unexpectedElements } from "./setup/export_checks";
import { openFile } from "./setup/file";
import { writeLong } from "./setup/long";
import { ROOT } from "./setup/processes";
import { partita, python, storeIn } from "./setup/site";

const FULL = process.env.PARTITA_FULL === "1";
const LIMIT = FULL ? 3_600_000 : 240_000;
const LONG = 400;
const PICTURES = "markup and pictures";
const LOGS = FULL
  ? [join(ROOT, "tests/fixtures/agent-logs"), join(ROOT, "../shared/corpora/agent-logs")]
  : [join(ROOT, "tests/fixtures/agent-logs/codex/single")];
const WRITE = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "setup/write_threads.py"), "utf8");

interface Exported {
  readonly thread: string;
  readonly file: string;
}

describe("exported pages", () => {
  const folder = mkdtempSync(join(tmpdir(), "partita-exports-"));
  const pages: Exported[] = [];
  const lines = new Map<string, string>();
  const several = join(folder, "several.html");
  beforeAll(async () => {
    const store = storeIn(folder);
    await writeLong(store, LONG);
    await python(WRITE, store);
    for (const logs of LOGS.filter(existsSync))
      await partita(folder, "import", logs, "--store", store).catch((error: Error) => {
        if (!FULL) throw error; // exits with 1, since some of the logs are malformed
      });
    const write = async (format: string, ...more: string[]): Promise<Exported[]> => {
      const to = join(folder, format);
      mkdirSync(to);
      const args = ["--all", "--internal", "--to", format, "-o", to, "--store", store, "--json"];
      const output = await partita(folder, "export", ...args, ...more);
      return output
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Exported);
    };
    pages.push(...(await write("html")));
    for (const { thread, file } of await write("jsonl", "--no-redact")) lines.set(thread, file);
    await partita(folder, "export", "--all", "--internal", "-o", several, "--store", store);
  }, LIMIT);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("have an index of several sessions, which makes no requests", async () => {
    const { page, requests, problems, close } = await openFile(several);
    await page.getByRole("heading", { level: 1, name: `${pages.length} sessions` }).waitFor();
    const links = page.locator("ol a");
    expect(await links.count()).toBe(pages.length);
    const title = (await links.first().locator("span").first().textContent()) ?? "";
    await links.first().click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    expect(await page.title()).toBe(title);
    await page.getByRole("link", { name: "All sessions" }).click();
    await page.getByRole("heading", { level: 1, name: "sessions" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    expect({ requests: [...new Set(requests)], problems }).toEqual({
      requests: [pathToFileURL(several).href],
      problems: [],
    });
    await close();
  });

  it(
    "contain every message and part, make no requests and report no errors",
    async () => {
      expect(pages.map(({ thread }) => thread)).toEqual(
        expect.arrayContaining(["long", PICTURES, "fixtures"]),
      );
      expect(pages.length).toBeGreaterThan(FULL ? 30 : 3);
      const found: Record<string, unknown> = {};
      const sums = { messages: 0, parts: 0, pictures: 0 };
      for (const { thread, file } of pages) {
        const { page, requests, problems, close } = await openFile(file);
        await page.evaluate(expandAll).catch((error: Error) => problems.push(error.message));
        const { missing, messages, parts } = await page.evaluate(missingIn);
        const { pictures, unloaded } = await page.evaluate(imagesIn);
        problems.push(...(await page.evaluate(unexpectedElements)));
        const held = await page.evaluate(() => document.getElementById("partita")?.textContent ?? "");
        const stored = readFileSync(lines.get(thread) ?? "", "utf8");
        const count = stored.split("\n").filter(Boolean).length;
        if (JSON.parse(held).messages.length !== count) missing.push(`messages: there are ${count}`);
        const damaged = [...held.replaceAll("\\u003c", "<").matchAll(/"(data:image\/[^"]*)"/g)]
          .map(([, address = ""]) => address)
          .filter((address) => !stored.includes(address));
        // Recordings may contain truncated images or text instead of them. All of our own can be decoded.
        const errors =
          thread === PICTURES ? problems : problems.filter((one) => !one.includes("ERR_INVALID_URL"));
        if (thread === PICTURES) expect({ pictures, unloaded }).toEqual({ pictures: 6, unloaded: 0 });
        if (missing.length || damaged.length || errors.length || requests.join() !== pathToFileURL(file).href)
          found[thread] = {
            missing: missing.slice(0, 20),
            damaged: damaged.map((one) => one.slice(0, 200)),
            errors,
            requests,
          };
        sums.messages += messages;
        sums.parts += parts;
        sums.pictures += pictures;
        await close();
      }
      console.log(`${pages.length} pages, ${JSON.stringify(sums)}`);
      expect(found).toEqual({});
      expect(sums.messages).toBeGreaterThan(LONG + (FULL ? 300 : 50));
      expect(sums.pictures).toBeGreaterThan(5);
    },
    LIMIT,
  );
});
