/** Reloads a thread when the feed reports a change, and resumes the stream when a run starts. */
import { useEffect, useRef } from "react";
import { listen } from "../api/feed";

/** Milliseconds between a change and the reload; changes in between share it. */
const RELOAD_DELAY = 400;

export function useThreadUpdates(
  threadId: string,
  reload: () => Promise<unknown>,
  followRun: () => void,
): void {
  const now = useRef({ reload, followRun });
  now.current = { reload, followRun };
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const scheduleReload = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void now.current.reload();
      }, RELOAD_DELAY);
    };
    const listener = {
      connected: (again: boolean) => {
        if (again) scheduleReload();
      },
      threads: (items: readonly { readonly id: string }[]) => {
        if (items.some(({ id }) => id === threadId)) scheduleReload();
      },
      runs: (items: readonly { readonly threadId: string }[]) => {
        if (items.some((run) => run.threadId === threadId)) now.current.followRun();
      },
      deleted: () => undefined,
      import: () => undefined,
    };
    listen(listener, abort.signal);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [threadId]);
}
