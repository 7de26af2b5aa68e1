/** What changes on the server, as it changes. */

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
  /** The feed begins, again after it broke off: what happened meanwhile was not told. */
  readonly begun: (again: boolean) => void;
  readonly threads: (items: readonly { readonly id: string; readonly updatedAt: string }[]) => void;
  readonly runs: (
    items: readonly { readonly id: string; readonly threadId: string; readonly status: RunStatus | null }[],
  ) => void;
  readonly deleted: (ids: readonly string[]) => void;
  readonly import: (status: ImportStatus) => void;
}

const LONGEST = 15_000;

/** Listen until `signal` says so; where the connection breaks, begin again, more and more patiently. */
export async function listen(listener: FeedListener, signal: AbortSignal): Promise<void> {
  let wait = 500;
  for (let again = false; !signal.aborted; again = true) {
    try {
      for await (const { event, data } of events("api/feed", {}, signal)) {
        if (wait > 0) listener.begun(again);
        wait = 0;
        hear(listener, event, JSON.parse(data));
      }
    } catch (error) {
      if (signal.aborted || (error instanceof Problem && error.status >= 400 && error.status < 500)) return;
    }
    wait = Math.min(Math.max(wait * 2, 500), LONGEST);
    await pause(wait, signal);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what the server writes, read by the name of the event
function hear(listener: FeedListener, event: string, data: any): void {
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
