/**
 * A real server on a store of its own, and pages of a real browser that look at it.
 *
 *     const site = await serve();                  // afterAll(() => site.stop())
 *     await site.seed([{ thread: {...}, messages: [...] }]);
 *     const page = await site.open("#/t/t1");
 *
 * Every page fails its test when a script throws, the policy is broken, or a request leaves the server.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { inject } from "vitest";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const PYTHON = join(ROOT, ".venv", "bin", "python");

let connected: Promise<Browser> | undefined;

/** The browser of this worker: a connection to the one there is. */
export function browser(): Promise<Browser> {
  connected ??= chromium.connect(inject("browser"));
  return connected;
}

export interface ServeOptions {
  /** Arguments of `partita serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that outlives the server: to start another on the same store. */
  readonly folder?: string;
  /** Put the bundled demo archive into the store. Without it the store is empty. */
  readonly demo?: boolean;
}

export interface Seed {
  readonly thread: { readonly id: string; readonly [key: string]: unknown };
  readonly messages: readonly unknown[];
}

export interface OpenOptions extends BrowserContextOptions {
  readonly theme?: "light" | "dark";
  /** Problems that this test is about, and that are not failures. */
  readonly expected?: readonly RegExp[];
}

export class Site {
  /** What went wrong on any page since it was opened. */
  readonly problems: string[] = [];
  /** Addresses outside the server that a page asked for. */
  readonly foreign: string[] = [];
  private readonly pages: Page[] = [];

  constructor(
    readonly address: string,
    readonly folder: string,
    private readonly process: ChildProcess,
    private readonly owned: boolean,
  ) {}

  /** Threads with their messages (canonical), put in over the API. */
  async seed(seeds: readonly Seed[]): Promise<void> {
    for (const { thread, messages } of seeds) {
      const { id, title, metadata, agent, project } = thread as Record<string, unknown>;
      await this.api("POST", "api/threads", { id, title, metadata, agent, project });
      if (messages.length)
        await this.api("POST", `api/threads/${encodeURIComponent(thread.id)}/messages`, messages);
    }
  }

  async api<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(new URL(path, this.address), {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** A new page, in a context of its own: light, 1280 × 800, no motion, unless said otherwise. */
  async open(hash = "", { theme = "light", expected = [], ...options }: OpenOptions = {}): Promise<Page> {
    const context = await (await browser()).newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: theme,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "UTC",
      ...options,
    });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    const note = (text: string) => {
      if (!expected.some((one) => one.test(text))) this.problems.push(text);
    };
    page.on("pageerror", (error) => note(`script: ${error.stack ?? error.message}`));
    page.on("console", (said) => {
      if (said.type() === "error" || /Content Security Policy|Trusted/.test(said.text()))
        note(`console: ${said.text()}`);
    });
    context.on("request", (request) => {
      const url = request.url();
      if (/^(?:data|blob|about):/.test(url) || url.startsWith(this.address)) return;
      this.foreign.push(url);
      note(`request: ${url}`);
    });
    this.pages.push(page);
    await page.goto(`${this.address}/${hash}`);
    return page;
  }

  /** Fails when anything went wrong on a page; for `afterEach`. */
  check(): void {
    const told = this.problems.splice(0);
    if (told.length) throw new Error(`on the page:\n${told.join("\n")}`);
  }

  async closePages(): Promise<void> {
    for (const page of this.pages.splice(0)) await page.context().close();
  }

  /** Stops the server; `kill`: at once, as a crash would. */
  async halt(kill = false): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill(kill ? "SIGKILL" : "SIGINT");
    await ended;
  }

  async stop(): Promise<void> {
    await this.closePages();
    await this.halt();
    if (this.owned) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A server that is ready. It ends with this process, whatever happens. */
export async function serve({ args = [], env = {}, folder, demo = false }: ServeOptions = {}): Promise<Site> {
  const place = folder ?? mkdtempSync(join(tmpdir(), "partita-e2e-"));
  const store = `sqlite:///${join(place, "store.db")}`;
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const given = [
    "-m",
    "partita",
    "serve",
    "--store",
    store,
    "--no-import",
    ...(demo ? [] : ["--no-demo"]),
    ...port,
    ...args,
  ];
  const child = spawn(PYTHON, given, {
    env: { ...process.env, HOME: place, XDG_DATA_HOME: place, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    let said = "";
    const listen = (data: Buffer) => {
      said += data.toString();
      const found = /Partita is at (http:\/\/\S+)/.exec(said);
      if (found?.[1]) resolve(new Site(found[1], place, child, folder === undefined));
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", (code) => reject(new Error(`partita serve ended with ${code}:\n${said}`)));
  });
}

/** Runs a Python script with the package; gives what it printed. */
export async function python(code: string, ...args: string[]): Promise<string> {
  const child = spawn(PYTHON, ["-c", code, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let bad = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (bad += data.toString()));
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (status !== 0) throw new Error(bad);
  return out;
}
