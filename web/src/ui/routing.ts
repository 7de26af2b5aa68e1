/**
 * Routes are in the fragment of the URL, so that the page works under any path.
 *
 *     #/                         Home, and on a wide screen the list of threads
 *     #/sessions?q=WORDS&…       the list of threads, searched, with filters
 *     #/t/THREAD?m=MESSAGE&p=PATH   a thread, at a message, at a part of it
 *     #/t/THREAD?m=MESSAGE&q=WORDS  the same with the find bar, which marks these words
 *     #/t/THREAD?view=files&f=PATH  the changed files of a thread, at one of them
 *     #/new                      a new chat
 *     #/run/RUN?at=SEQ           a replay
 *     #/compare?a=RUN&b=RUN
 *     #/analytics?…  #/convert  #/settings/SECTION
 */
import { useMemo, useSyncExternalStore } from "react";

export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** The parameter with the words of a search. */
export const TEXT = "q";

export type Params = Readonly<Record<string, string | number | null | undefined>>;

/** The `href` of a route. */
export function href(path: readonly string[], params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step; // a lone %
  }
}

/** Navigates; with `replace`, without a new history entry. */
export function go(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) {
    history.replaceState(null, "", to);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

export function usePlace(): Place {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parsePlace(hash), [hash]);
}

/** The route of a thread; with `query`, its words are marked in the messages. */
export const toThread = (
  id: string,
  message?: string | null,
  part?: string | null,
  query?: string | null,
): string => href(["t", id], { m: message, p: part, [TEXT]: query });
/** The changed files of a thread, at one of them. */
export const toFiles = (id: string, path?: string | null): string =>
  href(["t", id], { view: "files", f: path });
export const toRun = (id: string, at?: number | null) => href(["run", id], { at });
export const toCompare = (a?: string | null, b?: string | null) => href(["compare"], { a, b });
