/** The filters of the thread list: in the address of the list, and in the session storage while a thread is open. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { go, href, usePlace } from "../ui/routing";
import { addressOf, type Filters, readFilters, toParams } from "./filters";

const NAME = "partita.threads.filters";
/** On a narrow screen, Home is shown without the list. */
const NARROW = window.matchMedia("(max-width: 760px)");

function storedFilters(): Filters {
  return readFilters(new URLSearchParams(sessionStorage.getItem(NAME) ?? ""));
}

function storeFilters(filters: Filters): void {
  sessionStorage.setItem(NAME, addressOf(filters));
}

export function useFilters(): readonly [Filters, (filters: Filters) => void] {
  const place = usePlace();
  const isHome = place.path.length === 0;
  const isListOpen = place.path[0] === "sessions" || (isHome && (place.query.size > 0 || !NARROW.matches));
  const query = place.query.toString();
  const [inactive, setInactive] = useState(storedFilters);
  const wasListOpen = useRef(true);
  useEffect(() => {
    const hasReturned = isListOpen && !wasListOpen.current && query === "";
    wasListOpen.current = isListOpen;
    if (!isListOpen) return;
    const stored = storedFilters();
    if (hasReturned && Object.keys(stored).length > 0) {
      go(href(isHome ? [] : ["sessions"], toParams(stored)), { replace: true });
      return;
    }
    const current = readFilters(new URLSearchParams(query));
    storeFilters(current);
    setInactive(current);
  }, [isHome, isListOpen, query]);
  const active = useMemo(() => readFilters(new URLSearchParams(query)), [query]);
  const set = useCallback(
    (filters: Filters) => {
      storeFilters(filters);
      setInactive(filters);
      if (isListOpen) go(href(isHome ? [] : ["sessions"], toParams(filters)), { replace: true });
    },
    [isHome, isListOpen],
  );
  return [isListOpen ? active : inactive, set];
}
