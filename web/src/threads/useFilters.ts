import { useCallback, useMemo } from "react";
import { useListQuery } from "../ui/sessionSearch";
import { addressOf, type Filters, readFilters } from "./filters";

/** The search and the filters of the list. */
export function useFilters(): readonly [Filters, (filters: Filters) => void] {
  const [query, setQuery] = useListQuery();
  const filters = useMemo(() => readFilters(new URLSearchParams(query)), [query]);
  const set = useCallback((next: Filters) => setQuery(addressOf(next)), [setQuery]);
  return [filters, set];
}
