/** Statistics of the server. */
import { getJson, type Listing, type Query } from "./client";

export type Step = "day" | "week" | "month";
export type Split = "model" | "agent" | "project";
/** An hour is an hour of the week: `1-09` is Monday at nine. */
export type GroupBy = Step | Split | "hour";
export type StatMeasure = "messages" | "usage" | "calls" | "runs";

export interface StatFilters {
  readonly since?: string;
  readonly until?: string;
  readonly agent?: string;
  readonly project?: string;
  readonly model?: string;
}

/** One row of statistics. */
export interface Stat {
  readonly key: readonly (string | null)[];
  readonly threads: number;
  /** The threads that the row counts; absent if there are too many for a link. */
  readonly threadIds?: readonly string[];
  readonly messages: number;
  readonly runs: number;
  readonly failedRuns?: number;
  /** Also those that were cancelled. */
  readonly interruptedRuns?: number;
  /** The sum of the durations of its runs. */
  readonly seconds?: number;
  readonly responses: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cost?: number;
  readonly unpriced: number;
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly denied: number;
  readonly interrupted: number;
}

export interface ToolStat {
  readonly tool: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
  readonly interrupted: number;
  readonly timed: number;
  readonly totalSeconds?: number;
  readonly medianSeconds?: number;
  readonly p95Seconds?: number;
  readonly longestSeconds?: number;
  readonly threads: number;
  readonly failingThreads: number;
  readonly threadIds?: readonly string[];
  readonly failingThreadIds?: readonly string[];
}

export interface RunStat {
  readonly id: string;
  readonly threadId: string;
  /** Its first prompt, or else its first message. */
  readonly messageId?: string;
  /** The title of its thread. */
  readonly title?: string;
  /** The start of its first prompt. */
  readonly question?: string;
  readonly project?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly status: string;
  readonly createdAt?: string;
  readonly cost?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds?: number;
}

export interface ThreadStat {
  readonly id: string;
  readonly title?: string;
  readonly agent?: string;
  readonly project?: string;
  readonly messages: number;
  readonly runs: number;
  /** The sum of the durations of its runs. */
  readonly seconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost?: number;
  readonly toolCalls: number;
  readonly toolErrors: number;
}

/** Token counts of one response of a session, and the totals up to it. */
export interface GrowthPoint {
  readonly messageId?: string;
  /** Absent for the responses of sub-agents: they are not messages of the session itself. */
  readonly seq?: number;
  readonly time: string;
  readonly agent?: string;
  readonly model?: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cost?: number;
  readonly totalTokens: number;
  readonly totalCost?: number;
}

export type RunOrder = "cost" | "duration" | "tokens";
export type ThreadOrder = "cost" | "tokens" | "duration" | "errors" | "messages";

const items = async <T>(path: string, query: Query, signal?: AbortSignal): Promise<readonly T[]> =>
  (await getJson<Listing<T>>(path, query, signal)).items;

/**
 * Rows grouped by one or two dimensions, or one row in total. Days begin at midnight in the browser's time zone. With
 * `measures`, the other numbers are 0, and the response comes sooner.
 */
export const getStats = (
  by: readonly GroupBy[],
  filters: StatFilters,
  signal?: AbortSignal,
  measures?: readonly StatMeasure[],
): Promise<readonly Stat[]> => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  return items("api/stats", { ...filters, by: by.length ? by : "total", measures, ids: true, zone }, signal);
};

export const getToolStats = (filters: StatFilters, signal?: AbortSignal) =>
  items<ToolStat>("api/stats/tools", { ...filters }, signal);

export const getRunStats = (order: RunOrder, filters: StatFilters, limit: number, signal?: AbortSignal) =>
  items<RunStat>("api/stats/runs", { ...filters, order, limit }, signal);

export const getThreadStats = (
  order: ThreadOrder,
  filters: StatFilters,
  limit: number,
  signal?: AbortSignal,
) => items<ThreadStat>("api/stats/threads", { ...filters, order, limit }, signal);

export const getGrowth = (threadId: string, signal?: AbortSignal) =>
  items<GrowthPoint>(`api/threads/${encodeURIComponent(threadId)}/growth`, {}, signal);
