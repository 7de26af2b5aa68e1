/** What the page asks the server; the same question is asked once. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  getGrowth,
  getRunStats,
  getStats,
  getThreadStats,
  getToolStats,
  type RunOrder,
  type Split,
  type Stat,
  type StatFilters,
  type Step,
  type ThreadOrder,
} from "../api/analytics";

const FRESH = 30_000;

/** How many of the greatest sessions are shown; the same everywhere, so that they are asked for once. */
export const MOST_THREADS = 20;

const kept = { staleTime: FRESH, placeholderData: keepPreviousData };

export const useStats = (by: readonly (Step | Split)[], filters: StatFilters | undefined) =>
  useQuery<readonly Stat[]>({
    queryKey: ["analytics", "stats", by, filters],
    queryFn: ({ signal }) => getStats(by, filters ?? {}, signal),
    enabled: filters !== undefined,
    staleTime: FRESH,
    // Rows by something else would be drawn under wrong names.
    placeholderData: (told, asked) => (String(asked?.queryKey[2]) === String(by) ? told : undefined),
  });

export const useToolStats = (filters: StatFilters) =>
  useQuery({
    queryKey: ["analytics", "tools", filters],
    queryFn: ({ signal }) => getToolStats(filters, signal),
    ...kept,
  });

export const useRunStats = (order: RunOrder, filters: StatFilters, limit: number) =>
  useQuery({
    queryKey: ["analytics", "runs", order, filters, limit],
    queryFn: ({ signal }) => getRunStats(order, filters, limit, signal),
    ...kept,
  });

export const useThreadStats = (order: ThreadOrder, filters: StatFilters, limit: number) =>
  useQuery({
    queryKey: ["analytics", "threads", order, filters, limit],
    queryFn: ({ signal }) => getThreadStats(order, filters, limit, signal),
    ...kept,
  });

export const useGrowth = (threadId: string | undefined) =>
  useQuery({
    queryKey: ["analytics", "growth", threadId],
    queryFn: ({ signal }) => getGrowth(threadId ?? "", signal),
    enabled: threadId !== undefined,
    staleTime: FRESH,
  });
