/** Loads the visible messages: at once when the list is still, at intervals while it scrolls. */
import { useCallback, useEffect, useRef } from "react";
import type { Outline } from "../api/messages";
import type { MessageCache } from "./cache";
import type { Entry } from "./entries";

/** Milliseconds between two loads while the list scrolls. */
const LOAD_INTERVAL = 80;
/** Entries whose messages are loaded before and after the visible ones. */
const OVERSCAN = 25;

/** Returns a function that loads them again. */
export function useLoadVisible(
  cache: MessageCache,
  outline: Outline,
  entries: readonly Entry[],
  from: number,
  to: number,
  isScrolling: boolean,
): () => void {
  const last = useRef(0);
  const load = useCallback(() => {
    last.current = Date.now();
    const near = entries.slice(Math.max(0, from - OVERSCAN), to + OVERSCAN + 1);
    cache.loadAround(
      outline.rows,
      near.flatMap((entry) => (entry.kind === "message" ? [entry.row.id] : [])),
    );
  }, [cache, outline, entries, from, to]);
  useEffect(() => {
    const wait = isScrolling ? Math.max(0, last.current + LOAD_INTERVAL - Date.now()) : 0;
    if (!wait) return load();
    const timer = setTimeout(load, wait);
    return () => clearTimeout(timer);
  }, [load, isScrolling]);
  return load;
}
