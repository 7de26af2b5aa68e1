/** Processes of Partita: forked from one that has imported it already, or started cold. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const PYTHON = join(ROOT, ".venv", "bin", "python");

/** A running process. */
export interface Running {
  kill(signal: NodeJS.Signals): void;
  /** Calls `onOutput` with the whole output so far when there is more. */
  listen(onOutput: (output: string) => void): void;
  /** The exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface Command {
  /** Arguments of `partita`, or of the script. */
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  /** A script to run instead of `partita`. */
  readonly code?: string;
}

/** The processes that have to be stopped with this worker. */
const alive = new Set<() => void>();
process.once("exit", () => {
  for (const end of alive) end();
});

let started: Promise<string> | undefined;

/** Starts the fork server of this worker. Returns the address of its socket. */
function forkServer(): Promise<string> {
  started ??= new Promise((resolve, reject) => {
    const folder = mkdtempSync(join(tmpdir(), "partita-fork-"));
    const address = join(folder, "socket");
    const args = ["-m", "tests.fork_server", address];
    const child = spawn(PYTHON, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    child.stdout.once("data", () => resolve(address));
    child.once("exit", (code) => reject(new Error(`The fork server exited with code ${code}.`)));
    child.unref();
    for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
  });
  return started;
}

/** Forks a process from one that has imported Partita. */
export async function fork(command: Command): Promise<Running> {
  const connection = connect(await forkServer());
  const listeners: ((output: string) => void)[] = [];
  let output = "";
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
        // it has exited
      }
    };
    connection.setEncoding("utf8");
    connection.on("data", (text: string) => {
      output += text;
      const line = output.indexOf("\n");
      if (!pid && line >= 0) {
        pid = Number(output.slice(0, line));
        output = output.slice(line + 1);
        alive.add(last);
        const listen = (onOutput: (output: string) => void) => {
          listeners.push(onOutput);
          if (output) onOutput(output);
        };
        resolve({ kill, listen, ended });
      }
      for (const onOutput of listeners) onOutput(output);
    });
    connection.once("error", reject);
    connection.once("end", () => {
      alive.delete(last);
      const code = Number(/\n(-?\d+)\n$/.exec(output)?.[1]);
      end(code < 0 ? null : code);
    });
    connection.write(`${JSON.stringify(command)}\n`);
  });
}

/** Starts a process without the fork server, as a user does. */
export function start({ arguments: args, environment, folder }: Command): Running {
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
    listen(onOutput) {
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data: Buffer) => {
          output += data.toString();
          onOutput(output);
        });
    },
    ended,
  };
}
