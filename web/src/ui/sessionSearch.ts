/** The text in the search field of the list of sessions. It is kept while another view is open. */
import { useSyncExternalStore } from "react";
import { go, href } from "./routing";
import type { SavedSearch } from "./savedSearches";

let text = "";
const listeners = new Set<() => void>();

function set(next: string): void {
  text = next;
  for (const listener of listeners) listener();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export const useSessionSearch = (): readonly [string, (text: string) => void] => [
  useSyncExternalStore(subscribe, () => text),
  set,
];

/** Searches a text in all sessions: opens the list if it is not visible, and focuses its field. */
export function searchSessions(words: string): void {
  set(words);
  if (!focusField()) {
    go(href(["sessions"]));
    focusSearch();
  }
}

/** Shows a saved search in the list. */
export function openSearch({ text: words, filters }: SavedSearch): void {
  set(words);
  go(`${href(["sessions"])}${filters && `?${filters}`}`);
}

/** Focuses the field of the list, as soon as the list is visible. */
export function focusSearch(tries = 30): void {
  if (focusField() || tries === 0) return;
  requestAnimationFrame(() => focusSearch(tries - 1));
}

function focusField(): boolean {
  const field = document.querySelector<HTMLInputElement>("[data-threads] input[type=search]");
  if (!field?.offsetParent) return false;
  field.focus();
  field.select();
  return true;
}
