/**
 * A real server with its own store, and pages of a real browser.
 *
 *     const site = await serve();                  // afterAll(() => site.stop())
 *     await site.seed([{ thread: {...}, messages: [...] }]);
 *     const page = await site.open("#/t/t1");
 *
 * A test fails if a script throws, the Content-Security-Policy is violated, or a request goes to another host.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type OpenOptions, type Pages, pagesAt } from "./pages";
import { type Command, fork, ROOT, type Running, start } from "./processes";

export interface ServeOptions {
  /** Arguments of `partita serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that is kept when the server stops, to start another server on the same store. */
  readonly folder?: string;
  /** Fill the store with the demo data. By default it is empty. */
  readonly demo?: boolean;
  /** Start it without the fork server, as a user does. */
  readonly cold?: boolean;
}

export interface Seed {
  readonly thread: { readonly id: string; readonly [key: string]: unknown };
  readonly messages: readonly unknown[];
}

export class Site {
  private readonly pages: Pages;
  private isHalted = false;

  constructor(
    readonly address: string,
    /** The path of the printed URL, with the token if there is one. */
    readonly entrance: string,
    readonly folder: string,
    private readonly process: Running,
    private readonly owned: boolean,
  ) {
    this.pages = pagesAt(address);
  }

  /** Requested URLs of other hosts. */
  get foreign(): readonly string[] {
    return this.pages.foreign;
  }

  /** Creates threads with canonical messages through the API. */
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

  /** Opens a page. By default light, 1280 × 800, with reduced motion. */
  open(hash = "", options: OpenOptions = {}): Promise<Page> {
    return this.pages.open(hash, options);
  }

  /** Throws if there was a problem on a page; for `afterEach`. */
  check(): void {
    const problems = this.pages.problems.splice(0);
    if (problems.length) throw new Error(`Problems on the page:\n${problems.join("\n")}`);
  }

  /** Closes the pages of a test; for `afterEach`. */
  closePages(): Promise<void> {
    return this.pages.leave();
  }

  /** Stops the server; with `kill`, like a crash. */
  async halt(kill = false): Promise<void> {
    if (this.isHalted) return;
    this.isHalted = true;
    this.process.kill(kill ? "SIGKILL" : "SIGINT");
    await this.process.ended;
  }

  async stop(): Promise<void> {
    await this.pages.leave();
    await this.halt();
    if (this.owned) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The port of the last server of this worker. It is reused, so that scripts stay in the browser's cache. */
let lastPort = "0";

/** Starts a server and waits until it is ready. It is stopped with this process. */
export async function serve(options: ServeOptions = {}): Promise<Site> {
  if (options.args?.includes("--port")) return serveAt([], options);
  const site = await serveAt(["--port", lastPort], options).catch((error: Error) => {
    if (!/port \d+ is taken/.test(error.message)) throw error;
    return serveAt(["--port", "0"], options);
  });
  lastPort = new URL(site.address).port;
  return site;
}

async function serveAt(
  port: readonly string[],
  { args = [], env = {}, folder, demo = false, cold = false }: ServeOptions,
): Promise<Site> {
  const home = folder ?? mkdtempSync(join(tmpdir(), "partita-e2e-"));
  const store = ["--store", storeIn(home)];
  const command = {
    arguments: [
      "serve",
      ...store,
      "--no-import",
      "--no-token",
      ...(demo ? [] : ["--no-demo"]),
      ...port,
      ...args,
    ],
    environment: { ...process.env, HOME: home, XDG_DATA_HOME: home, ...env },
    folder: ROOT,
  };
  const child = cold ? start(command) : await fork(command);
  return new Promise((resolve, reject) => {
    let output = "";
    child.listen((text) => {
      output = text;
      const found = /Partita is at (http:\/\/[^/\s]+)(\S*) /.exec(output);
      if (found?.[1]) resolve(new Site(found[1], found[2] ?? "", home, child, folder === undefined));
    });
    void child.ended.then((code) => reject(new Error(`partita serve exited with code ${code}:\n${output}`)));
  });
}

/** The URL of the store in a folder. */
export const storeIn = (folder: string): string => `sqlite:///${join(folder, "store.db")}`;

/** Runs a Python script with the package. Returns its output. */
export const python = (code: string, ...args: string[]): Promise<string> =>
  outputOf({ arguments: args, environment: process.env, folder: ROOT, code });

/** Runs `partita`. Returns its output. */
export const partita = (folder: string, ...args: string[]): Promise<string> =>
  outputOf({ arguments: args, environment: { ...process.env, HOME: folder, XDG_DATA_HOME: folder }, folder });

async function outputOf(command: Command): Promise<string> {
  const child = await fork(command);
  let out = "";
  child.listen((text) => {
    out = text;
  });
  if ((await child.ended) !== 0) throw new Error(out);
  return out.replace(/\n-?\d+\n$/, "");
}
