/**
 * The pages of an address. The first one that a test opens is the page of the test before, which was led away and
 * whose storage was emptied: its scripts are in the browser's cache, so it takes half the time of a new one. Any
 * other, and whatever needs a context that is set up otherwise, has a context of its own.
 */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "./chromium.mjs";

/** A place of the same origin where nothing is at work. */
const NOWHERE = "favicon.svg";
const SIZE = { width: 1280, height: 800 };

let launched: Promise<Browser> | undefined;

/** The browser of this worker: it is started once, for all files, and ends with it. */
export function browser(): Promise<Browser> {
  launched ??= launch();
  return launched;
}

async function launch(): Promise<Browser> {
  const found = await findChromium();
  if (!found) throw new Error("there is no Chromium: `make setup` installs one, PARTITA_CHROMIUM names one");
  return chromium.launch({
    executablePath: found.path,
    args: [...found.args, "--no-sandbox", "--disable-gpu"],
    headless: true,
  });
}

export interface OpenOptions extends BrowserContextOptions {
  readonly theme?: "light" | "dark";
  /** Problems that this test is about, and that are not failures. */
  readonly expected?: readonly RegExp[];
  /** Whether nothing may be in the browser's cache. */
  readonly fresh?: boolean;
}

const known = new Map<string, Pages>();

/** The pages of an address, where no test has been yet. */
export function pagesAt(address: string): Pages {
  const pages = known.get(address) ?? new Pages(address);
  known.set(address, pages);
  pages.foreign.length = 0;
  return pages;
}

export class Pages {
  /** What went wrong on any page. */
  readonly problems: string[] = [];
  /** Addresses outside the server that a page asked for. */
  readonly foreign: string[] = [];
  private readonly expected = new Map<Page, readonly RegExp[]>();
  private kept: Page | undefined;

  constructor(private readonly address: string) {}

  /** A page: light, 1280 × 800, no motion, unless said otherwise. */
  async open(
    hash: string,
    { theme = "light", viewport = SIZE, expected = [], fresh = false, ...others }: OpenOptions,
  ): Promise<Page> {
    const isAlone = fresh || viewport === null || Object.keys(others).length > 0;
    const free = isAlone || (this.kept && this.expected.has(this.kept)) ? undefined : this.kept;
    const page = free ?? (await this.create({ colorScheme: theme, viewport, ...others }));
    this.expected.set(page, expected);
    if (free) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize(viewport ?? SIZE);
    } else if (!isAlone) this.kept ??= page;
    await page.goto(`${this.address}/${hash}`);
    return page;
  }

  /** The test is over: one page is kept for the next one. */
  async leave(): Promise<void> {
    for (const page of this.expected.keys())
      if (page !== this.kept || page.isClosed() || !(await this.empty(page))) await this.drop(page);
    this.expected.clear();
  }

  private async create(options: BrowserContextOptions): Promise<Page> {
    const context = await (await browser()).newContext({
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "UTC",
      ...options,
    });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    page.on("pageerror", (error) => this.note(page, `script: ${error.stack ?? error.message}`));
    page.on("console", (said) => {
      if (said.type() === "error" || /Content Security Policy|Trusted/.test(said.text()))
        this.note(page, `console: ${said.text()}`);
    });
    context.on("request", (request) => {
      const url = request.url();
      if (/^(?:data|blob|about):/.test(url) || url.startsWith(this.address)) return;
      this.foreign.push(url);
      this.note(page, `request: ${url}`);
    });
    return page;
  }

  private note(page: Page, text: string): void {
    if (!this.expected.get(page)?.some((one) => one.test(text))) this.problems.push(text);
  }

  /** Leads a page away and takes what the test left with it; whether that was possible. */
  private async empty(page: Page): Promise<boolean> {
    try {
      page.removeAllListeners("request");
      page.removeAllListeners("response");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().clearPermissions();
      await page.goto(`${this.address}/${NOWHERE}`);
      await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
      });
      await page.mouse.move(-1, -1);
      return true;
    } catch {
      return false; // its server is gone
    }
  }

  private async drop(page: Page): Promise<void> {
    if (page === this.kept) this.kept = undefined;
    await page.context().close();
  }
}
