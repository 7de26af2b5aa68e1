/**
 * What the list of sessions shows: the text in its search field, its filters and its order, as the query of its
 * address. While another view is open, it is kept in the session storage, so that it outlives a reload.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { keepQuery, keptQuery } from "./keptQuery";
import { go, href, type Place, parsePlace, TEXT, usePlace } from "./routing";
import type { SavedSearch } from "./savedSearches";

/** On a narrow screen, Home is shown without the list. */
const NARROW = window.matchMedia("(max-width: 760px)");
const SESSIONS = ["sessions"];

let kept = keptQuery();
const listeners = new Set<() => void>();

function keep(query: string): void {
  if (query === kept) return;
  kept = query;
  keepQuery(query);
  for (const listener of listeners) listener();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** Whether the address is that of the list. */
const isList = ({ path, query }: Place): boolean =>
  path[0] === "sessions" || (path.length === 0 && (query.size > 0 || !NARROW.matches));

const addressOf = (path: readonly string[], query: string): string => `${href(path)}${query && `?${query}`}`;

/** The query of the list, and a function that replaces it. */
export function useListQuery(): readonly [string, (query: string) => void] {
  const place = usePlace();
  const inactive = useSyncExternalStore(subscribe, () => kept);
  const isOpen = isList(place);
  const query = place.query.toString();
  const wasOpen = useRef(true);
  useEffect(() => {
    const hasReturned = isOpen && !wasOpen.current && query === "";
    wasOpen.current = isOpen;
    if (hasReturned && kept) go(addressOf(place.path, kept), { replace: true });
    else if (isOpen) keep(query);
  }, [isOpen, query, place]);
  return [isOpen ? query : inactive, setQuery];
}

function setQuery(query: string): void {
  const place = parsePlace(location.hash);
  keep(query);
  if (isList(place)) go(addressOf(NARROW.matches ? SESSIONS : place.path, query), { replace: true });
}

/** The address of the list with a text, and with filters in the form of the address. */
export function toSearch({ text, filters }: Pick<SavedSearch, "text" | "filters">): string {
  const query = new URLSearchParams(filters);
  if (text) query.set(TEXT, text);
  return addressOf(SESSIONS, query.toString());
}

/** Searches a text in all sessions that the filters select: opens the list if it is not visible. */
export function searchSessions(text: string): void {
  const place = parsePlace(location.hash);
  const query = new URLSearchParams(isList(place) ? place.query : kept);
  query.set(TEXT, text);
  if (focusField()) setQuery(query.toString());
  else {
    go(addressOf(SESSIONS, query.toString()));
    focusSearch();
  }
}

/** Shows a saved search in the list. */
export const openSearch = (saved: SavedSearch): void => go(toSearch(saved));

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
