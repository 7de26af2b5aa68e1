/**
 * A real server on a store of its own, and pages of a real browser that look at it.
 *
 *     const site = await serve();                  // afterAll(() => site.stop())
 *     await site.seed([{ thread: {...}, messages: [...] }]);
 *     const page = await site.open("#/t/t1");
 *
 * Every page fails its test when a script throws, the policy is broken, or a request leaves the server.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type OpenOptions, type Pages, pagesAt } from "./pages";
import { fork, type Order, ROOT, type Running, start } from "./processes";

export interface ServeOptions {
  /** Arguments of `partita serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that outlives the server: to start another on the same store. */
  readonly folder?: string;
  /** Put the bundled demo archive into the store. Without it the store is empty. */
  readonly demo?: boolean;
  /** Start it as a user does, with all that it has to load. */
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
    /** The path that the server printed behind its address: with a token, if it has one. */
    readonly entrance: string,
    readonly folder: string,
    private readonly process: Running,
    private readonly owned: boolean,
  ) {
    this.pages = pagesAt(address);
  }

  /** Addresses outside the server that a page asked for. */
  get foreign(): readonly string[] {
    return this.pages.foreign;
  }

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

  /** A page in which nobody has been: light, 1280 × 800, no motion, unless said otherwise. */
  open(hash = "", options: OpenOptions = {}): Promise<Page> {
    return this.pages.open(hash, options);
  }

  /** Fails when anything went wrong on a page; for `afterEach`. */
  check(): void {
    const told = this.pages.problems.splice(0);
    if (told.length) throw new Error(`on the page:\n${told.join("\n")}`);
  }

  /** The test is over, and its pages with it; for `afterEach`. */
  closePages(): Promise<void> {
    return this.pages.leave();
  }

  /** Stops the server; `kill`: at once, as a crash would. */
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

/** Where the last server of this worker was: the next one takes its place, and finds its scripts in the cache. */
let lastPort = "0";

/** A server that is ready. It ends with this process, whatever happens. */
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
  const place = folder ?? mkdtempSync(join(tmpdir(), "partita-e2e-"));
  const store = ["--store", storeIn(place)];
  const order = {
    arguments: [
      "serve",
      ...store,
      "--no-import",
      "--no-token",
      ...(demo ? [] : ["--no-demo"]),
      ...port,
      ...args,
    ],
    environment: { ...process.env, HOME: place, XDG_DATA_HOME: place, ...env },
    folder: ROOT,
  };
  const child = cold ? start(order) : await fork(order);
  return new Promise((resolve, reject) => {
    let said = "";
    child.listen((written) => {
      said = written;
      const found = /Partita is at (http:\/\/[^/\s]+)(\S*) /.exec(said);
      if (found?.[1]) resolve(new Site(found[1], found[2] ?? "", place, child, folder === undefined));
    });
    void child.ended.then((code) => reject(new Error(`partita serve ended with ${code}:\n${said}`)));
  });
}

/** Where the store of a site's folder is. */
export const storeIn = (folder: string): string => `sqlite:///${join(folder, "store.db")}`;

/** Runs a Python script with the package; gives what it printed. */
export const python = (code: string, ...args: string[]): Promise<string> =>
  printed({ arguments: args, environment: process.env, folder: ROOT, code });

/** Runs `partita`; gives what it printed. */
export const partita = (folder: string, ...args: string[]): Promise<string> =>
  printed({ arguments: args, environment: { ...process.env, HOME: folder, XDG_DATA_HOME: folder }, folder });

async function printed(order: Order): Promise<string> {
  const child = await fork(order);
  let out = "";
  child.listen((written) => {
    out = written;
  });
  if ((await child.ended) !== 0) throw new Error(out);
  return out.replace(/\n-?\d+\n$/, "");
}
