/** Exported pages, opened from the disk: every message of every recording is in them, and nothing else happens. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingIn, openEverything, unloadedPictures } from "./setup/export_checks";
import { openFile } from "./setup/file";
import { writeLong } from "./setup/long";
import { ROOT } from "./setup/processes";
import { partita, python, storeIn } from "./setup/site";

const FULL = process.env.PARTITA_FULL === "1";
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
  beforeAll(async () => {
    const store = storeIn(folder);
    await writeLong(store, LONG);
    await python(WRITE, store, FULL ? "all" : "sample");
    for (const logs of LOGS)
      await partita(folder, "import", logs, "--store", store).catch((error: Error) => {
        if (!/could not be read|brought in|imported/.test(error.message)) throw error; // malformed logs are among them
      });
    const write = async (format: string, ...more: string[]): Promise<Exported[]> => {
      const to = join(folder, format);
      mkdirSync(to);
      const args = ["--all", "--internal", "--format", format, "-o", to, "--store", store, "--json"];
      const told = await partita(folder, "export", ...args, ...more);
      return told
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Exported);
    };
    pages.push(...(await write("html")));
    for (const { thread, file } of await write("jsonl", "--no-redact")) lines.set(thread, file);
  }, 1_800_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("hold every message and every part, ask for nothing and report no error", async () => {
    expect(pages.map(({ thread }) => thread)).toEqual(expect.arrayContaining(["long", PICTURES, "fixtures"]));
    expect(pages.length).toBeGreaterThan(FULL ? 30 : 3);
    const found: Record<string, unknown> = {};
    const sums = { messages: 0, parts: 0, pictures: 0 };
    for (const { thread, file } of pages) {
      const { page, asked, wrong, close } = await openFile(file);
      await page.evaluate(openEverything);
      const { missing, messages, parts } = await page.evaluate(missingIn);
      const { pictures, unloaded } = await page.evaluate(unloadedPictures);
      const held = await page.evaluate(() => document.getElementById("partita")?.textContent ?? "");
      const stored = readFileSync(lines.get(thread) ?? "", "utf8");
      const count = stored.split("\n").filter(Boolean).length;
      if (JSON.parse(held).messages.length !== count) missing.push(`messages: there are ${count}`);
      // Some recordings hold the beginning of a picture only, which must be the beginning that is stored.
      const damaged = unloaded.filter((source) => thread === PICTURES || !stored.includes(source));
      if (missing.length || damaged.length || wrong.length || asked.join() !== pathToFileURL(file).href)
        found[thread] = { missing: missing.slice(0, 20), damaged, wrong, asked };
      sums.messages += messages;
      sums.parts += parts;
      sums.pictures += pictures;
      await close();
    }
    console.log(`${pages.length} pages, ${JSON.stringify(sums)}`);
    expect(found).toEqual({});
    expect(sums.messages).toBeGreaterThan(LONG + 300);
    expect(sums.pictures).toBeGreaterThan(5);
  }, 3_600_000);
});
