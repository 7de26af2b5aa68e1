/**
 * Asks content that hides some of its text to show an occurrence in it: a fold, a list of which only the first items
 * are rendered, a level of a tree. Everything that hides text answers; the search in a session asks.
 */
import { useCallback, useRef, useState } from "react";

export interface Wanted {
  readonly pattern: RegExp;
  /** The number of the occurrence in the content, from 0. */
  readonly number: number;
}

export type Revealed =
  /** It is rendered now or soon; `marked`: in the element with `data-sought`, which has its number there. */
  | { readonly type: "shown"; readonly marked?: boolean }
  /** More of the text is loading. */
  | { readonly type: "loading" }
  /** The content has only so many occurrences. */
  | { readonly type: "missing"; readonly total: number };

const EVENT = "reveal";
const LOADING: Revealed = { type: "loading" };

/** The attribute of elements that answer. Those with the value `last` only hide text that nothing else shows. */
export const PARTIAL = "data-partial";

interface Request extends Wanted {
  /** Set by the content. */
  result: Revealed;
}

/** Asks one element. */
export function askToReveal(element: Element, pattern: RegExp, number: number): Revealed {
  const detail: Request = { pattern, number, result: { type: "missing", total: 0 } };
  element.dispatchEvent(new CustomEvent(EVENT, { detail }));
  return detail.result;
}

/** The props of an element that hides text: a function that answers for it, or `null` while it hides nothing. */
export function usePartial(reveal: ((wanted: Wanted) => Revealed) | null, value: "" | "last" = "") {
  const latest = useRef(reveal);
  latest.current = reveal;
  const ref = useCallback((element: Element | null) => {
    if (!element) return;
    const listener = (event: Event) => {
      const detail = (event as CustomEvent<Request>).detail;
      if (latest.current) detail.result = latest.current(detail);
    };
    element.addEventListener(EVENT, listener);
    return () => element.removeEventListener(EVENT, listener);
  }, []);
  return { ref, [PARTIAL]: reveal ? value : undefined };
}

/** The answer while the content is loading. */
export const revealLater = (): Revealed => LOADING;

/** The answer of an element that shows a text up to some character, and can show more of it. */
export function revealText(
  text: string,
  shown: number,
  { pattern, number }: Wanted,
  show: (end: number) => void,
): Revealed {
  const found = [...text.matchAll(pattern)];
  const wanted = found[number];
  if (!wanted) return { type: "missing", total: found.length };
  const end = wanted.index + wanted[0].length;
  if (end > shown) show(end);
  return { type: "shown" };
}

/** An occurrence: the index of its item, and its number in the item. */
export interface FoundItem {
  readonly item: number;
  readonly at: number;
}

/** The item that contains an occurrence; if there are fewer, how many there are. */
export function findItem(texts: Iterable<string>, { pattern, number }: Wanted): FoundItem | number {
  let count = 0;
  let item = 0;
  for (const text of texts) {
    const inItem = text.match(pattern)?.length ?? 0;
    if (number < count + inItem) return { item, at: number - count };
    count += inItem;
    item += 1;
  }
  return count;
}

/** How many items of a list are shown: the first ones, and more on request or if a word in them is sought. */
export function useShownItems<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  { first, next }: { readonly first: number; readonly next: number },
) {
  const [limit, setLimit] = useState(first);
  const isCut = items.length > limit;
  const area = usePartial(
    isCut
      ? (wanted) => {
          const found = findItem(items.map(textOf), wanted);
          if (typeof found === "number") return { type: "missing", total: found };
          if (found.item >= limit) setLimit(limit + next * Math.ceil((found.item + 1 - limit) / next));
          return { type: "shown" };
        }
      : null,
  );
  return { limit, more: () => setLimit(limit + next), area };
}
