/** The filters of the thread list: in the address of the list, and in the session storage while a thread is open. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { go, href, usePlace } from "../ui/routing";
import { type Filters, isEmpty, readFilters, toParams } from "./filters";

const NAME = "partita.threads.filters";

function storedFilters(): Filters {
  return readFilters(new URLSearchParams(sessionStorage.getItem(NAME) ?? ""));
}

function storeFilters(filters: Filters): void {
  sessionStorage.setItem(NAME, href([], toParams(filters)).replace(/^#\/\??/, ""));
}

export function useFilters(): readonly [Filters, (filters: Filters) => void] {
  const place = usePlace();
  const isListOpen = place.path.length === 0;
  const query = place.query.toString();
  const [inactive, setInactive] = useState(storedFilters);
  const wasListOpen = useRef(true);
  useEffect(() => {
    const hasReturned = isListOpen && !wasListOpen.current && query === "";
    wasListOpen.current = isListOpen;
    if (!isListOpen) return;
    const stored = storedFilters();
    if (hasReturned && !isEmpty(stored)) {
      go(href([], toParams(stored)), { replace: true });
      return;
    }
    const current = readFilters(new URLSearchParams(query));
    storeFilters(current);
    setInactive(current);
  }, [isListOpen, query]);
  const active = useMemo(() => readFilters(new URLSearchParams(query)), [query]);
  const set = useCallback(
    (filters: Filters) => {
      storeFilters(filters);
      setInactive(filters);
      if (isListOpen) go(href([], toParams(filters)), { replace: true });
    },
    [isListOpen],
  );
  return [isListOpen ? active : inactive, set];
}
