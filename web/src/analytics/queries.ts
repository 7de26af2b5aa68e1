/** The queries of the page. Identical queries share a request. */
import { keepPreviousData, queryOptions, usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { createContext, useContext, useMemo } from "react";
import {
  type GroupBy,
  getGrowth,
  getRunStats,
  getStats,
  getThreadStats,
  getToolStats,
  type RunOrder,
  type Split,
  type Stat,
  type StatFilters,
  type StatMeasure,
  type ThreadOrder,
} from "../api/analytics";
import { WEEKS, weeksUntil } from "./charts/Heatmap";
import { type Order, orderOf } from "./colours";
import { following, startOf } from "./periods";
import { isoRange, type Selection } from "./selection";

const STALE_TIME = 30_000;

/** The number of loaded sessions. The same everywhere, so that components share the request. */
export const MAX_THREADS = 200;

/** To count calls takes the longest. */
const TOTAL_MEASURES: readonly StatMeasure[] = ["messages", "usage", "runs"];
const TREND_MEASURES: readonly StatMeasure[] = ["usage", "runs"];

const options = { staleTime: STALE_TIME, placeholderData: keepPreviousData };

/** Whether queries may start that are not for the top of the page: they would delay those that are. */
export const Later = createContext(true);

const statsOptions = (
  by: readonly GroupBy[],
  filters: StatFilters | undefined,
  measures?: readonly StatMeasure[],
) =>
  queryOptions<readonly Stat[]>({
    queryKey: ["analytics", "stats", by, filters, measures],
    queryFn: ({ signal }) => getStats(by, filters ?? {}, signal, measures),
    staleTime: STALE_TIME,
    // Rows of another grouping would be displayed under wrong labels.
    placeholderData: (previous, query) => (String(query?.queryKey[2]) === String(by) ? previous : undefined),
  });

/** Statistics; with `measures`, only these, which takes less time. */
export const useStats = (
  by: readonly GroupBy[],
  filters: StatFilters | undefined,
  measures?: readonly StatMeasure[],
  isLater = false,
) => {
  const later = useContext(Later);
  return useQuery({
    ...statsOptions(by, filters, measures),
    enabled: filters !== undefined && (later || !isLater),
  });
};

/** Starts the queries of the totals before all others. */
export function useFirstQueries({ filters, before, step, split }: Selection): void {
  usePrefetchQuery(statsOptions([], filters));
  usePrefetchQuery(statsOptions([step], filters, TOTAL_MEASURES));
  usePrefetchQuery(statsOptions([], before ?? filters));
  usePrefetchQuery(statsOptions([step, split], filters, TREND_MEASURES));
}

/** The statistics of each day of the year until `last`. */
export const useDays = (last: string, filters: StatFilters) => {
  const since = startOf(weeksUntil(last, WEEKS)[0]?.[0] ?? last);
  const until = startOf(following("day", last));
  return useStats(["day"], { ...filters, ...isoRange({ since, until }) }, ["messages"], true);
};

export const useToolStats = (filters: StatFilters) =>
  useQuery({
    queryKey: ["analytics", "tools", filters],
    queryFn: ({ signal }) => getToolStats(filters, signal),
    enabled: useContext(Later),
    ...options,
  });

export const useRunStats = (order: RunOrder, filters: StatFilters, limit: number) =>
  useQuery({
    queryKey: ["analytics", "runs", order, filters, limit],
    queryFn: ({ signal }) => getRunStats(order, filters, limit, signal),
    enabled: useContext(Later),
    ...options,
  });

export const useThreadStats = (order: ThreadOrder, filters: StatFilters, limit: number) =>
  useQuery({
    queryKey: ["analytics", "threads", order, filters, limit],
    queryFn: ({ signal }) => getThreadStats(order, filters, limit, signal),
    enabled: useContext(Later),
    ...options,
  });

export const useGrowth = (threadId: string | undefined) =>
  useQuery({
    queryKey: ["analytics", "growth", threadId],
    queryFn: ({ signal }) => getGrowth(threadId ?? "", signal),
    enabled: threadId !== undefined,
    staleTime: STALE_TIME,
  });

/** The statistics of each period by what they are split. */
export const useTrends = ({ step, split, filters }: Selection) =>
  useStats([step, split], filters, TREND_MEASURES);

/** The statistics of each hour of the week. */
export const useHours = ({ filters }: Selection) => useStats(["hour"], filters, ["messages"], true);

/** The statistics of each period. */
export const usePeriods = ({ step, filters }: Selection) => useStats([step], filters, TOTAL_MEASURES);

/** The colours of models, agents or projects. */
export function useOrder(split: Split, { filters }: Selection): Order {
  const stats = useStats([split], filters).data;
  return useMemo(() => orderOf(split, stats ?? []), [split, stats]);
}
