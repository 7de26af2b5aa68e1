/**
 * The browser pages of a server. The first page that a test opens is reused from the previous test after its storage
 * is cleared: its scripts are cached, so it opens in half the time. Further pages, and pages with special options,
 * have their own browser context.
 */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "./chromium.mjs";

/** A URL of the same origin without scripts. */
const IDLE_PATH = "favicon.svg";
const CLOCK_TOLERANCE_MS = 60_000;
const SIZE = { width: 1280, height: 800 };

let launched: Promise<Browser> | undefined;

/** The browser of this worker, shared by all test files. */
export function browser(): Promise<Browser> {
  launched ??= launch();
  return launched;
}

async function launch(): Promise<Browser> {
  const found = await findChromium();
  if (!found) throw new Error("Chromium not found. Install it with `make setup`, or set PARTITA_CHROMIUM.");
  return chromium.launch({
    executablePath: found.path,
    args: [...found.args, "--no-sandbox", "--disable-gpu"],
    headless: true,
  });
}

export interface OpenOptions extends BrowserContextOptions {
  readonly theme?: "light" | "dark";
  /** Preferences of the user, such as `{ detail: "everything" }`. */
  readonly preferences?: object;
  /** Problems that the test expects. */
  readonly expected?: readonly RegExp[];
  /** Start with an empty browser cache. */
  readonly fresh?: boolean;
}

const known = new Map<string, Pages>();

/** The pages of a server. */
export function pagesAt(address: string): Pages {
  const pages = known.get(address) ?? new Pages(address);
  known.set(address, pages);
  pages.foreign.length = 0;
  return pages;
}

export class Pages {
  /** Problems on any page. */
  readonly problems: string[] = [];
  /** Requested URLs of other hosts. */
  readonly foreign: string[] = [];
  private readonly expected = new Map<Page, readonly RegExp[]>();
  private reused: Page | undefined;

  constructor(private readonly address: string) {}

  /** Opens a page. By default light, 1280 × 800, with reduced motion. */
  async open(
    hash: string,
    { theme = "light", viewport = SIZE, expected = [], fresh = false, preferences, ...others }: OpenOptions,
  ): Promise<Page> {
    const isAlone = fresh || viewport === null || Object.keys(others).length > 0;
    const free = isAlone || (this.reused && this.expected.has(this.reused)) ? undefined : this.reused;
    const page = free ?? (await this.create({ colorScheme: theme, viewport, ...others }));
    this.expected.set(page, expected);
    if (free) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize(viewport ?? SIZE);
    } else if (!isAlone) this.reused ??= page;
    if (preferences) {
      await page.goto(`${this.address}/${IDLE_PATH}`);
      const value = JSON.stringify(preferences);
      await page.evaluate((stored) => localStorage.setItem("partita.preferences", stored), value);
    }
    await page.goto(`${this.address}/${hash}`);
    return page;
  }

  /** Closes the pages of a test, except the one that the next test reuses. */
  async leave(): Promise<void> {
    for (const page of this.expected.keys())
      if (page !== this.reused || page.isClosed() || !(await this.reset(page))) await this.drop(page);
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
    page.on("pageerror", (error) => this.report(page, `script: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || /Content Security Policy|Trusted/.test(message.text()))
        this.report(page, `console: ${message.text()}`);
    });
    context.on("request", (request) => {
      const url = request.url();
      if (/^(?:data|blob|about):/.test(url) || url.startsWith(this.address)) return;
      this.foreign.push(url);
      this.report(page, `request: ${url}`);
    });
    return page;
  }

  private report(page: Page, text: string): void {
    if (!this.expected.get(page)?.some((one) => one.test(text))) this.problems.push(text);
  }

  /** Clears the state of a page. Returns whether that was possible. */
  private async reset(page: Page): Promise<boolean> {
    try {
      page.removeAllListeners("request");
      page.removeAllListeners("response");
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().clearPermissions();
      await page.goto(`${this.address}/${IDLE_PATH}`);
      const now = await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
        return Date.now();
      });
      await page.mouse.move(-1, -1);
      return Math.abs(now - Date.now()) < CLOCK_TOLERANCE_MS; // a test may have set the clock for good
    } catch {
      return false; // the server has stopped
    }
  }

  private async drop(page: Page): Promise<void> {
    if (page === this.reused) this.reused = undefined;
    await page.context().close();
  }
}
