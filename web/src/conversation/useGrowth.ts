/** Reads a session again when the feed says that it has grown. */
import { useEffect, useRef } from "react";
import { listen } from "../api/feed";

/** So many milliseconds pass between two readings. */
const PAUSE = 400;

export function useGrowth(threadId: string, reload: () => Promise<unknown>, wake: () => void): void {
  const now = useRef({ reload, wake });
  now.current = { reload, wake };
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void now.current.reload();
      }, PAUSE);
    };
    const listener = {
      begun: (again: boolean) => {
        if (again) soon();
      },
      threads: (items: readonly { readonly id: string }[]) => {
        if (items.some(({ id }) => id === threadId)) soon();
      },
      runs: (items: readonly { readonly threadId: string }[]) => {
        if (items.some((run) => run.threadId === threadId)) now.current.wake();
      },
      deleted: () => undefined,
      import: () => undefined,
    };
    void listen(listener, ending.signal);
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [threadId]);
}
