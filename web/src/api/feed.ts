/** The feed of changes on the server. */

import type { RunStatus } from "../partita.gen";
import { Problem } from "./client";
import { events } from "./events";

export interface ImportStatus {
  readonly state: "idle" | "reading" | "done" | "failed";
  readonly files: number;
  readonly allFiles: number;
  readonly sessions: number;
  readonly messages: number;
}

export interface FeedListener {
  /** The feed has connected. `again` after an interruption: changes in between were not reported. */
  readonly connected: (again: boolean) => void;
  readonly threads: (items: readonly { readonly id: string; readonly updatedAt: string | null }[]) => void;
  readonly runs: (
    items: readonly { readonly id: string; readonly threadId: string; readonly status: RunStatus | null }[],
  ) => void;
  readonly deleted: (ids: readonly string[]) => void;
  readonly import: (status: ImportStatus) => void;
}

const MAX_RETRY_DELAY = 15_000;

/** The listeners of the one connection of this page: browsers open few connections to a server at once. */
const listeners = new Set<FeedListener>();
let connection: AbortController | null = null;
let isConnected = false;
let lastImport: ImportStatus | null = null;

/** Calls the listener until `signal` aborts. The first listener opens the connection, the last one closes it. */
export function listen(listener: FeedListener, signal: AbortSignal): void {
  if (signal.aborted) return;
  listeners.add(listener);
  signal.addEventListener("abort", () => {
    listeners.delete(listener);
    if (listeners.size) return;
    connection?.abort();
    connection = null;
    isConnected = false;
  });
  if (!connection) {
    connection = new AbortController();
    lastImport = null;
    void connect(connection.signal);
  } else if (isConnected) {
    listener.connected(false);
    if (lastImport) listener.import(lastImport);
  }
}

/** Passes events on until `signal` aborts. Reconnects with exponential backoff. */
async function connect(signal: AbortSignal): Promise<void> {
  let delay = 500;
  for (let again = false; !signal.aborted; again = true) {
    try {
      for await (const { event, data } of events("api/feed", {}, signal)) {
        if (delay > 0) {
          isConnected = true;
          for (const one of [...listeners]) one.connected(again);
        }
        delay = 0;
        const content: unknown = JSON.parse(data);
        if (event === "import") lastImport = content as ImportStatus;
        for (const one of [...listeners]) dispatch(one, event, content);
      }
    } catch (error) {
      if (signal.aborted || (error instanceof Problem && error.status >= 400 && error.status < 500)) return;
    }
    if (signal.aborted) return;
    isConnected = false;
    delay = Math.min(Math.max(delay * 2, 500), MAX_RETRY_DELAY);
    await pause(delay, signal);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the event name determines the type
function dispatch(listener: FeedListener, event: string, data: any): void {
  if (event === "threads") listener.threads(data.items);
  else if (event === "runs") listener.runs(data.items);
  else if (event === "deleted") listener.deleted(data.items);
  else if (event === "import") listener.import(data);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
