/** Opens a shared file from disk in a browser. */
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { browser } from "./pages";

export interface OpenedFile {
  readonly page: Page;
  /** The requested URLs; the first is that of the file. */
  readonly requests: readonly string[];
  /** Errors, policy violations and dialogs. */
  readonly problems: string[];
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
  const requests: string[] = [];
  const problems: string[] = [];
  context.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url())) requests.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy|Trusted/.test(message.text()))
      problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  return { page, requests, problems, close: () => context.close() };
}
