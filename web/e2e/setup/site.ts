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
import type { Page } from "playwright-core";
import { type OpenOptions, Pages } from "./pages";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const PYTHON = join(ROOT, ".venv", "bin", "python");

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

export class Site {
  private readonly pages: Pages;

  constructor(
    readonly address: string,
    readonly folder: string,
    private readonly process: ChildProcess,
    private readonly owned: boolean,
  ) {
    this.pages = new Pages(address);
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
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill(kill ? "SIGKILL" : "SIGINT");
    await ended;
  }

  async stop(): Promise<void> {
    await this.pages.close();
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
