/** A shared file, opened from the disk as a reader opens it. */
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { browser } from "./pages";

export interface OpenedFile {
  readonly page: Page;
  /** The addresses that it requested; the first is its own. */
  readonly asked: readonly string[];
  /** Errors, violations of its policy and dialogs. */
  readonly wrong: string[];
  readonly close: () => Promise<void>;
}

export async function openFile(path: string, options: BrowserContextOptions = {}): Promise<OpenedFile> {
  const context = await (await browser()).newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const asked: string[] = [];
  const wrong: string[] = [];
  context.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url())) asked.push(request.url());
  });
  page.on("console", (said) => {
    if (said.type() === "error" || /Content Security Policy|Trusted/.test(said.text()))
      wrong.push(said.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  return { page, asked, wrong, close: () => context.close() };
}
