/** Loads the bodies of tool calls: when the first call is open, or the user is about to open one. */
import { useEffect, useSyncExternalStore } from "react";
import type * as Bodies from "./bodies";

let loaded: typeof Bodies | null = null;
const listeners = new Set<() => void>();

export async function loadBodies(): Promise<void> {
  loaded ??= await import("./bodies");
  for (const listener of listeners) listener();
}

/** The bodies of tool calls; null until they have loaded. `isNeeded` loads them. */
export function useBodies(isNeeded: boolean): typeof Bodies | null {
  useEffect(() => {
    if (isNeeded && !loaded) void loadBodies();
  }, [isNeeded]);
  return useSyncExternalStore(subscribe, current, current);
}

const current = () => loaded;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const prepare = () => {
  if (!loaded) void loadBodies();
};

/** Attributes of an element in which a call can be opened: then it opens without a delay. */
export const PREPARE_BODIES = { onPointerEnter: prepare, onPointerDown: prepare, onFocus: prepare };
