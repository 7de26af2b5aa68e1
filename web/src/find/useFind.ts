/** The state of the find bar: what is searched, where it occurs, and the current occurrence. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { findInThread, isSearchable } from "../api/search";
import {
  type FoundPart,
  indexFrom,
  indexOfPlace,
  inOrder,
  type Occurrence,
  occurrenceAt,
  type Place,
  placeOf,
  totalOf,
  wordsOf,
} from "./matches";

const DEBOUNCE_MS = 150;
const NOTHING: readonly FoundPart[] = [];

interface Options {
  readonly threadId: string;
  /** The messages that are shown, in order. */
  readonly rows: readonly { readonly id: string }[];
  /** The query in the page's address, with the place that it was opened at. */
  readonly route: { readonly query: string | null; readonly place: Place | null };
  /** The first visible message. */
  readonly top: () => string | null;
  /** Shows a place; without one, only the query has changed. */
  readonly onShow: (place: Place | null, query: string | null) => void;
}

export interface FindState {
  readonly isOpen: boolean;
  readonly text: string;
  readonly matchCase: boolean;
  readonly parts: readonly FoundPart[];
  readonly total: number;
  /** The number of the current occurrence from 1; 0 if there is none. */
  readonly number: number;
  readonly current: Occurrence | null;
  /** Words to mark where the server names none. */
  readonly words: readonly string[];
  /** Older messages match, too. */
  readonly hasMore: boolean;
  readonly isReady: boolean;
  readonly error: unknown;
  /** Counts how often the user has opened the bar: its field takes the focus. */
  readonly asked: number;
  readonly open: () => void;
  readonly close: () => void;
  readonly setText: (text: string) => void;
  readonly setMatchCase: (matchCase: boolean) => void;
  readonly step: (by: 1 | -1) => void;
}

export function useFind({ threadId, rows, route, top, onShow }: Options): FindState {
  const [isOpen, setOpen] = useState(route.query !== null);
  const [asked, setAsked] = useState(0);
  const [text, setText] = useState(route.query ?? "");
  const [matchCase, setMatchCase] = useState(false);
  const [index, setIndex] = useState(-1);
  const searched = useDebounced(text.trim());
  const isSearched = isOpen && isSearchable(searched);
  const query = useQuery({
    queryKey: ["find", threadId, searched, matchCase],
    queryFn: ({ signal }) => findInThread(threadId, searched, matchCase, signal),
    enabled: isSearched,
    retry: false,
  });
  const order = useMemo(() => new Map(rows.map(({ id }, at) => [id, at])), [rows]);
  const data = isSearched ? query.data : undefined;
  const parts = useMemo(() => (data ? inOrder(data.items, order) : NOTHING), [data, order]);
  const total = totalOf(parts);
  const [jumps, setJumps] = useState(0);
  // A new object for each jump, also to the same occurrence.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const current = useMemo(() => occurrenceAt(parts, index), [parts, index, jumps]);
  const words = useMemo(() => wordsOf(searched), [searched]);

  const written = useRef<string | null>(null);
  const jump = (to: number) => {
    const occurrence = occurrenceAt(parts, to);
    if (!occurrence) return;
    setIndex(to);
    setJumps((count) => count + 1);
    const place = placeOf(occurrence);
    written.current = addressOf(searched, place);
    onShow(place, searched);
  };
  const jumpNow = useRef(jump);
  jumpNow.current = jump;

  // The address has changed: another hit of a search.
  const wanted = useRef<Place | null>(route.place);
  const placed = useRef<unknown>(null);
  const { query: routeQuery, place: routePlace } = route;
  useEffect(() => {
    const address = addressOf(routeQuery, routePlace);
    if (routeQuery === null || address === written.current) return;
    setText(routeQuery);
    setOpen(true);
    wanted.current = routePlace;
    placed.current = null;
  }, [routeQuery, routePlace]);

  // New results: the occurrence at the place in the address, or the next one from here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address that has changed is placed again
  useEffect(() => {
    if (!data || !order.size || placed.current === data) return;
    placed.current = data;
    const at = wanted.current && indexOfPlace(parts, wanted.current);
    wanted.current = null;
    if (!total) setIndex(-1);
    else jumpNow.current(at !== null && at >= 0 ? at : indexFrom(parts, order, top()));
  }, [data, parts, order, total, top, routeQuery, routePlace]);

  return {
    isOpen,
    text,
    matchCase,
    parts,
    total,
    number: current ? index + 1 : 0,
    current,
    words,
    hasMore: data?.complete === false,
    isReady: data !== undefined && searched === text.trim(),
    error: isSearched ? query.error : null,
    asked,
    open: useCallback(() => {
      setOpen(true);
      setAsked((count) => count + 1);
    }, []),
    close: () => {
      setOpen(false);
      written.current = null;
      onShow(null, null);
    },
    setText,
    setMatchCase,
    step: (by) => {
      if (total) jump(index < 0 ? indexFrom(parts, order, top()) : (index + by + total) % total);
    },
  };
}

const addressOf = (query: string | null, place: Place | null): string =>
  JSON.stringify([query, place?.messageId, place?.part]);

/** The text after the user has paused typing. */
function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
