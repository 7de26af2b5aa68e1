/** Searches of the list that the user has named, kept in this browser. */
import { useSyncExternalStore } from "react";

export interface SavedSearch {
  readonly name: string;
  /** What is in the search field. */
  readonly text: string;
  /** The filters and the order, as in the address. */
  readonly filters: string;
}

const STORAGE = "partita.searches";
const listeners = new Set<() => void>();
let current = load();

export const savedSearches = (): readonly SavedSearch[] => current;

export const useSavedSearches = (): readonly SavedSearch[] => useSyncExternalStore(subscribe, savedSearches);

/** Saves a search. It replaces the one with the same name. */
export const saveSearch = (search: SavedSearch): void =>
  set([...current.filter(({ name }) => name !== search.name), search]);

/** Renames a search, unless the name is empty or taken. */
export function renameSearch(name: string, next: string): boolean {
  const clean = next.trim();
  if (clean === name) return true;
  if (!clean || current.some((one) => one.name === clean)) return false;
  set(current.map((one) => (one.name === name ? { ...one, name: clean } : one)));
  return true;
}

export const removeSearch = (name: string): void => set(current.filter((one) => one.name !== name));

function set(next: readonly SavedSearch[]): void {
  current = next;
  localStorage.setItem(STORAGE, JSON.stringify(next));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function load(): readonly SavedSearch[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isSearch) : [];
  } catch {
    return []; // not written by this page
  }
}

function isSearch(value: unknown): value is SavedSearch {
  return ["name", "text", "filters"].every((name) => typeof Object(value)[name] === "string");
}

// Another tab has changed them.
if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => {
    if (key !== STORAGE) return;
    current = load();
    for (const listener of listeners) listener();
  });
