/** Loads large outputs when a card is opened: small ones completely, of others the first bytes. */
import { useEffect, useMemo, useState } from "react";
import { type BlobPiece, type RenderContext, useRenderContext } from "../context/renderContext";
import type { ToolCallPart } from "../partita.gen";
import { contentOf, type LargeValue, type Loaded, type OutputContent, withLoaded } from "./call";
import { parseJson } from "./json";

export const FIRST_BYTES = 64 * 1024;
export const NEXT_BYTES = 256 * 1024;
const MAX_JSON_BYTES = 1_000_000;

interface Fetched {
  readonly whole: Loaded;
  readonly firstPieces: ReadonlyMap<string, BlobPiece>;
}

const NOTHING: Fetched = { whole: new Map(), firstPieces: new Map() };

interface LoadedCall {
  /** The call with the outputs that have been loaded completely. */
  readonly part: ToolCallPart;
  readonly content: OutputContent;
  /** The first bytes of outputs that are too large to display at once, by URL. */
  readonly firstPieces: ReadonlyMap<string, BlobPiece>;
  readonly error: unknown;
  readonly retry: () => void;
}

/** A call with its output as far as it is loaded. Nothing is loaded before `isOpen`. */
export function useLoadedCall(call: ToolCallPart, isOpen: boolean): LoadedCall {
  const { loadBlob } = useRenderContext();
  const [fetched, setFetched] = useState(NOTHING);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const part = useMemo(() => withLoaded(call, fetched.whole), [call, fetched]);
  const content = useMemo(() => contentOf(part.output), [part]);
  const missing = content.large.filter((one) => !fetched.firstPieces.has(one.url));
  const key = missing.map((one) => one.url).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` identifies what is missing; the array is new on each render
  useEffect(() => {
    if (!isOpen || !missing.length) return;
    let isCancelled = false;
    setError(null);
    Promise.all(missing.map((large) => fetchValue(large, loadBlob))).then(
      (found) => !isCancelled && setFetched((before) => merged(before, found)),
      (problem: unknown) => !isCancelled && setError(problem),
    );
    return () => {
      isCancelled = true;
    };
  }, [isOpen, key, tries, loadBlob]);
  return { part, content, firstPieces: fetched.firstPieces, error, retry: () => setTries(tries + 1) };
}

interface FetchedOne {
  readonly url: string;
  readonly whole?: unknown;
  readonly first?: BlobPiece;
}

async function fetchValue({ url, kind }: LargeValue, load: RenderContext["loadBlob"]): Promise<FetchedOne> {
  const first = await load(url, 0, FIRST_BYTES - 1);
  const isWhole = first.data.length >= first.size;
  if (kind === "text") return isWhole ? { url, whole: decoded(first) } : { url, first };
  if (!isWhole && first.size > MAX_JSON_BYTES) return { url, first };
  const value = parseJson(decoded(isWhole ? first : await load(url)));
  return value === undefined ? { url, first } : { url, whole: value };
}

const decoded = (piece: BlobPiece): string => new TextDecoder().decode(piece.data);

function merged(before: Fetched, found: readonly FetchedOne[]): Fetched {
  const whole = new Map(before.whole);
  const firstPieces = new Map(before.firstPieces);
  for (const one of found) {
    if (one.first) firstPieces.set(one.url, one.first);
    else whole.set(one.url, one.whole);
  }
  return { whole, firstPieces };
}
