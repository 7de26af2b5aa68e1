/** The filters of the list: in the address while the list is shown, remembered while a thread is open. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { go, href, usePlace } from "../ui/routing";
import { type Filters, isEmpty, readFilters, toParams } from "./filters";

const NAME = "partita.threads.filters";

function remembered(): Filters {
  return readFilters(new URLSearchParams(sessionStorage.getItem(NAME) ?? ""));
}

function remember(filters: Filters): void {
  sessionStorage.setItem(NAME, href([], toParams(filters)).replace(/^#\/\??/, ""));
}

export function useFilters(): readonly [Filters, (filters: Filters) => void] {
  const place = usePlace();
  const atList = place.path.length === 0;
  const query = place.query.toString();
  const [kept, setKept] = useState(remembered);
  const wasAtList = useRef(true);
  useEffect(() => {
    const comesBack = atList && !wasAtList.current && query === "";
    wasAtList.current = atList;
    if (!atList) return;
    const known = remembered();
    if (comesBack && !isEmpty(known)) {
      go(href([], toParams(known)), { replace: true });
      return;
    }
    const said = readFilters(new URLSearchParams(query));
    remember(said);
    setKept(said);
  }, [atList, query]);
  const said = useMemo(() => readFilters(new URLSearchParams(query)), [query]);
  const set = useCallback(
    (filters: Filters) => {
      remember(filters);
      setKept(filters);
      if (atList) go(href([], toParams(filters)), { replace: true });
    },
    [atList],
  );
  return [atList ? said : kept, set];
}
