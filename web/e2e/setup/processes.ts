/** Processes of Partita: forked from one that has loaded it already, or started cold. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const PYTHON = join(ROOT, ".venv", "bin", "python");

/** A process: what it writes, and how it ends. */
export interface Running {
  kill(signal: NodeJS.Signals): void;
  /** Calls with all that was written so far whenever more comes. */
  listen(hear: (written: string) => void): void;
  /** The exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface Order {
  /** Arguments of `partita`, or of the script. */
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  /** A script to run instead of `partita`. */
  readonly code?: string;
}

/** The processes of this worker that have to end with it. */
const alive = new Set<() => void>();
process.once("exit", () => {
  for (const end of alive) end();
});

let started: Promise<string> | undefined;

/** Starts the fork server of this worker, which ends with it; gives the address of its socket. */
function forkServer(): Promise<string> {
  started ??= new Promise((resolve, reject) => {
    const folder = mkdtempSync(join(tmpdir(), "partita-fork-"));
    const address = join(folder, "socket");
    const args = ["-m", "tests.fork_server", address];
    const child = spawn(PYTHON, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    child.stdout.once("data", () => resolve(address));
    child.once("exit", (code) => reject(new Error(`the fork server ended with ${code}`)));
    child.unref();
    for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
  });
  return started;
}

/** A process that is forked from one that has loaded Partita. */
export async function fork(order: Order): Promise<Running> {
  const connection = connect(await forkServer());
  const hearers: ((written: string) => void)[] = [];
  let written = "";
  let pid = 0;
  return new Promise((resolve, reject) => {
    let end = (_: number | null) => {};
    const kill = (signal: NodeJS.Signals) => process.kill(pid, signal);
    const ended = new Promise<number | null>((done) => {
      end = done;
    });
    const last = () => {
      try {
        kill("SIGKILL");
      } catch {
        // it has ended
      }
    };
    connection.setEncoding("utf8");
    connection.on("data", (text: string) => {
      written += text;
      const line = written.indexOf("\n");
      if (!pid && line >= 0) {
        pid = Number(written.slice(0, line));
        written = written.slice(line + 1);
        alive.add(last);
        const listen = (hear: (written: string) => void) => {
          hearers.push(hear);
          if (written) hear(written);
        };
        resolve({ kill, listen, ended });
      }
      for (const hear of hearers) hear(written);
    });
    connection.once("error", reject);
    connection.once("end", () => {
      alive.delete(last);
      const code = Number(/\n(-?\d+)\n$/.exec(written)?.[1]);
      end(code < 0 ? null : code);
    });
    connection.write(`${JSON.stringify(order)}\n`);
  });
}

/** A process that loads all it needs itself, as a user's does. */
export function start({ arguments: args, environment, folder }: Order): Running {
  const child = spawn(PYTHON, ["-m", "partita", ...args], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const last = () => void child.kill("SIGKILL");
  alive.add(last);
  const ended = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => {
      alive.delete(last);
      resolve(code);
    });
  });
  return {
    kill: (signal) => void child.kill(signal),
    listen(hear) {
      let written = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data: Buffer) => {
          written += data.toString();
          hear(written);
        });
    },
    ended,
  };
}
