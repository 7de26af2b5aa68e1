/**
 * Code that is loaded when it is first needed. It is displayed at once when it has loaded; React delays what replaces
 * the fallback of `Suspense` by up to 300 ms.
 */
import { type ComponentType, type ReactNode, useMemo, useSyncExternalStore } from "react";

interface LazyModule<T> {
  /** Loads the code before it is needed. It never rejects: `use` throws the error. */
  readonly preload: () => Promise<void>;
  /** The module; null until it has loaded. `isNeeded` loads it. */
  readonly use: (isNeeded?: boolean) => T | null;
}

interface State<T> {
  readonly loaded: T | null;
  readonly failed: { readonly error: unknown } | null;
}

export function lazyModule<T>(load: () => Promise<T>): LazyModule<T> {
  let state: State<T> = { loaded: null, failed: null };
  let loading: Promise<void> | undefined;
  const listeners = new Set<() => void>();
  const current = () => state;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const finish = (next: State<T>) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const preload = (): Promise<void> => {
    if (loading) return loading;
    state = { loaded: null, failed: null };
    loading = load().then(
      (loaded) => finish({ loaded, failed: null }),
      (error: unknown) => {
        loading = undefined; // loaded again when it is needed again
        finish({ loaded: null, failed: { error } });
      },
    );
    return loading;
  };
  return {
    preload,
    use: (isNeeded = true) => {
      useMemo(() => isNeeded && void preload(), [isNeeded]); // an effect would start it a frame later
      const { loaded, failed } = useSyncExternalStore(subscribe, current, current);
      if (isNeeded && failed) throw failed.error;
      return loaded;
    },
  };
}

interface LazyComponent<Props> {
  (props: Props): ReactNode;
  readonly preload: () => Promise<void>;
}

/** A component whose code is loaded when it is first rendered. Until then, the fallback is in its place. */
export function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = null,
): LazyComponent<Props> {
  const { preload, use } = lazyModule(load);
  function Lazy(props: Props) {
    const Loaded = use();
    return Loaded ? <Loaded {...props} /> : fallback;
  }
  return Object.assign(Lazy, { preload });
}
