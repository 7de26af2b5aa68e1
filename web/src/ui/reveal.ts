/** Asks content that renders only a part of its text to show an occurrence in it. */

export interface Wanted {
  readonly pattern: RegExp;
  /** The number of the occurrence in the content, from 0. */
  readonly number: number;
  /** Set by the content. */
  result: Revealed;
}

export type Revealed =
  /** It is rendered now or soon; `virtual`: in the element with `data-sought`. */
  | { readonly type: "shown"; readonly virtual: boolean }
  /** More of the text is loading. */
  | { readonly type: "loading" }
  /** The content has only so many occurrences. */
  | { readonly type: "missing"; readonly total: number };

const EVENT = "reveal";

/** The attribute of elements that listen. */
export const PARTIAL = "data-partial";

/** Asks one element. */
export function askToReveal(element: Element, pattern: RegExp, number: number): Revealed {
  const detail: Wanted = { pattern, number, result: { type: "missing", total: 0 } };
  element.dispatchEvent(new CustomEvent(EVENT, { detail }));
  return detail.result;
}

/** Calls a function when an element is asked. Returns a function that stops it. */
export function onReveal(element: Element, reveal: (wanted: Wanted) => void): () => void {
  const listener = (event: Event) => reveal((event as CustomEvent<Wanted>).detail);
  element.addEventListener(EVENT, listener);
  return () => element.removeEventListener(EVENT, listener);
}
