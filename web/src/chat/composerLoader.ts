/** Loads the composer, which an imported session does not have. */
import { useEffect, useSyncExternalStore } from "react";
import type * as Module from "./Composer";

let loaded: typeof Module | null = null;
const listeners = new Set<() => void>();

export async function loadComposer(): Promise<void> {
  loaded ??= await import("./Composer");
  for (const listener of listeners) listener();
}

/** The composer; undefined until it has loaded. `isNeeded` loads it. */
export function useComposer(isNeeded: boolean): typeof Module.Composer | undefined {
  useEffect(() => {
    if (isNeeded) void loadComposer();
  }, [isNeeded]);
  return useSyncExternalStore(subscribe, current, current)?.Composer;
}

const current = () => loaded;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
