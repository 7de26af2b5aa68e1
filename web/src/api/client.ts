/** Requests to the server that the page is from: JSON in, JSON out, and errors as the server tells them. */

export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** What the server says when something is wrong: what, where, how to fix it. */
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

/** Where the server is: the page may be mounted below any path. */
export const BASE = new URL(".", document.baseURI);

const KEY = "partita.key";

/** The key that this browser shows, where the server asks for one. It is forgotten with the tab. */
export function accessKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function setAccessKey(key: string | null): void {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** The full address of `path` (no leading slash) with a query; what is null or undefined is left out. */
export function address(path: string, query: Query = {}): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    url.searchParams.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  return url.href;
}

/** The headers that say who asks. */
export function authorization(): Record<string, string> {
  const key = accessKey();
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** A request; an answer that is no success is a `Problem`. */
export async function ask(path: string, init: RequestInit & { query?: Query } = {}): Promise<Response> {
  const { query, ...rest } = init;
  const response = await fetch(address(path, query), {
    ...rest,
    headers: { ...authorization(), ...(rest.headers as Record<string, string> | undefined) },
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(
      0,
      "The server does not answer.",
      undefined,
      "Is it still running? Start it again: partita",
    );
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response: Response): Promise<Problem> {
  const said: unknown = await response.json().catch(() => null);
  const told = (said ?? {}) as { detail?: string; title?: string; where?: string; hint?: string };
  return new Problem(
    response.status,
    told.detail ?? told.title ?? `The server answered ${response.status}.`,
    told.where,
    told.hint,
  );
}

/** Answers that are on their way before anybody needs them, by address. */
const ahead = new Map<string, Promise<unknown>>();
/** What nobody has taken by then, in milliseconds, is too old. */
const AHEAD_FOR = 3_000;

/** A request whose answer the first `getJson` with the same address takes. */
export function askAhead<T>(path: string, query?: Query): Promise<T> {
  const url = address(path, query);
  const asked = getJson<T>(path, query);
  asked.catch(() => undefined); // who takes it hears of it
  ahead.set(url, asked);
  setTimeout(() => ahead.delete(url), AHEAD_FOR);
  return asked;
}

export async function getJson<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const url = address(path, query);
  const asked = ahead.get(url);
  ahead.delete(url);
  return ((await asked) ?? (await (await ask(url, { signal })).json())) as T;
}

export async function sendJson<T>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  query?: Query,
): Promise<T> {
  const response = await ask(path, {
    method,
    query,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** A page of a list, and the cursor of the next one. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly next?: string | null;
}
