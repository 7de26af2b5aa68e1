/** Requests to the server of the page. Errors of the server are thrown as `Problem`. */

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** An error response: what is wrong, where, and how to fix it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly where?: string,
    readonly hint?: string,
  ) {
    super(message);
    this.name = "Problem";
  }
}

/** The base URL of the server. The page may be mounted under any path. */
const BASE = new URL(".", document.baseURI);

const KEY = "partita.key";

/** The API key, if the server requires one. It is deleted when the tab is closed. */
export function accessKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function setAccessKey(key: string | null): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** The full URL of `path` (no leading slash) with a query. Null, undefined and empty values are omitted. */
export function address(path: string, query: Query = {}): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    url.searchParams.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  return url.href;
}

/** The authorization header. */
export function authorization(): Record<string, string> {
  const key = accessKey();
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** Sends a request. Throws a `Problem` unless the response is successful. */
export async function request(path: string, init: RequestInit & { query?: Query } = {}): Promise<Response> {
  const { query, ...rest } = init;
  const response = await fetch(address(path, query), {
    ...rest,
    headers: { ...authorization(), ...(rest.headers as Record<string, string> | undefined) },
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(
      0,
      "The server does not respond.",
      undefined,
      "Check whether it is running. To start it, run: partita",
    );
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const { detail, title, where, hint } = (body ?? {}) as Partial<
    Record<"detail" | "title" | "where" | "hint", string>
  >;
  const message = detail ?? title ?? `The server returned status ${response.status}.`;
  return new Problem(response.status, message, where, hint);
}

interface Prefetched {
  readonly response: Promise<unknown>;
  /** Set when it has arrived. */
  value?: unknown;
}

/** Prefetched responses by URL. */
const prefetched = new Map<string, Prefetched>();
/** Milliseconds after which a prefetched response is dropped. */
const PREFETCH_MAX_AGE = 3_000;

/** Sends a request now. The first `getJson` or `arrivedJson` with the same URL returns its response. */
export function prefetchJson(path: string, query?: Query): void {
  const url = address(path, query);
  // Sent at once, not after the script that is running.
  const one: Prefetched = { response: request(path, { query }).then((found) => found.json()) };
  one.response.then(
    (value) => {
      one.value = value;
    },
    () => undefined, // reported by the `getJson` that uses the response
  );
  prefetched.set(url, one);
  setTimeout(() => prefetched.delete(url), PREFETCH_MAX_AGE);
}

/** The prefetched response if it has arrived: it can be rendered at once. */
export function arrivedJson<T>(path: string, query?: Query): T | undefined {
  const url = address(path, query);
  const found = prefetched.get(url)?.value;
  if (found !== undefined) prefetched.delete(url);
  return found as T | undefined;
}

export async function getJson<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const url = address(path, query);
  const early = prefetched.get(url);
  prefetched.delete(url);
  return ((await early?.response) ?? (await (await request(url, { signal })).json())) as T;
}

export async function sendJson<T>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  query?: Query,
): Promise<T> {
  const response = await request(path, {
    method,
    query,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** A page of a list, and the cursor of the next page. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly next?: string | null;
}
