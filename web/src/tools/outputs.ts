/** Large outputs: fetched when somebody looks, small ones whole, of others the beginning. */
import { useEffect, useMemo, useState } from "react";
import type { ToolCallPart } from "../partita.gen";
import { type BlobPiece, useViewing, type Viewing } from "../viewing/viewing";
import { type Given, givenOf, type Large, type Loaded, withLoaded } from "./call";
import { parsed } from "./json";

export const FIRST = 64 * 1024;
export const NEXT = 256 * 1024;
const LARGEST_TREE = 1_000_000;

interface Fetched {
  readonly whole: Loaded;
  readonly firsts: ReadonlyMap<string, BlobPiece>;
}

const NOTHING: Fetched = { whole: new Map(), firsts: new Map() };

interface Reading {
  /** The call, with the outputs that have been loaded whole. */
  readonly part: ToolCallPart;
  readonly given: Given;
  /** The beginnings of what is too large to be shown at once, by address. */
  readonly firsts: ReadonlyMap<string, BlobPiece>;
  readonly error: unknown;
  readonly retry: () => void;
}

/** A call with its output, as far as it is to be had; nothing is fetched before `isOpen`. */
export function useReading(call: ToolCallPart, isOpen: boolean): Reading {
  const { loadBlob } = useViewing();
  const [fetched, setFetched] = useState(NOTHING);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const part = useMemo(() => withLoaded(call, fetched.whole), [call, fetched]);
  const given = useMemo(() => givenOf(part.output), [part]);
  const missing = given.large.filter((one) => !fetched.firsts.has(one.url));
  const key = missing.map((one) => one.url).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the addresses say what is missing; a list is new each time
  useEffect(() => {
    if (!isOpen || !missing.length) return;
    let isGone = false;
    setError(null);
    Promise.all(missing.map((large) => fetchLarge(large, loadBlob))).then(
      (found) => !isGone && setFetched((before) => merged(before, found)),
      (problem: unknown) => !isGone && setError(problem),
    );
    return () => {
      isGone = true;
    };
  }, [isOpen, key, tries, loadBlob]);
  return { part, given, firsts: fetched.firsts, error, retry: () => setTries(tries + 1) };
}

interface FetchedOne {
  readonly url: string;
  readonly whole?: unknown;
  readonly first?: BlobPiece;
}

async function fetchLarge({ url, kind }: Large, load: Viewing["loadBlob"]): Promise<FetchedOne> {
  const first = await load(url, 0, FIRST - 1);
  const isWhole = first.data.length >= first.size;
  if (kind === "text") return isWhole ? { url, whole: decoded(first) } : { url, first };
  if (!isWhole && first.size > LARGEST_TREE) return { url, first };
  const value = parsed(decoded(isWhole ? first : await load(url)));
  return value === undefined ? { url, first } : { url, whole: value };
}

const decoded = (piece: BlobPiece): string => new TextDecoder().decode(piece.data);

function merged(before: Fetched, found: readonly FetchedOne[]): Fetched {
  const whole = new Map(before.whole);
  const firsts = new Map(before.firsts);
  for (const one of found) {
    if (one.first) firsts.set(one.url, one.first);
    else whole.set(one.url, one.whole);
  }
  return { whole, firsts };
}
