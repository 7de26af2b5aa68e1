/** The orders of the list of sessions. */
import type { Query } from "../api/client";
import type { ThreadSummary } from "../api/threads";

export type Sort = "newest" | "oldest" | "longest" | "cost" | "messages";

export const SORTS: Readonly<Record<Sort, string>> = {
  newest: "Newest",
  oldest: "Oldest",
  longest: "Longest",
  cost: "Most expensive",
  messages: "Most messages",
};

/** Whether the list is in the order of time: only then it has groups, and pinned sessions are first. */
export const isByTime = (sort: Sort = "newest"): boolean => sort === "newest" || sort === "oldest";

/** The parameters of the server. */
export const sortQuery = (sort: Sort = "newest"): Query => QUERIES[sort];

const QUERIES: Readonly<Record<Sort, Query>> = {
  newest: {},
  oldest: { order: "asc" },
  longest: { sort: "duration" },
  cost: { sort: "cost" },
  messages: { sort: "messages" },
};

/** The time of the last message; 0 if it is unknown, so that the newest session is the first one. */
const time = ({ thread }: ThreadSummary): number => (thread.updatedAt ? Date.parse(thread.updatedAt) : 0);

const VALUES: Readonly<Record<Sort, (row: ThreadSummary) => number>> = {
  newest: time,
  oldest: (row) => -time(row),
  longest: (row) => Math.round((row.seconds ?? 0) * 1000),
  cost: (row) => Math.round((row.cost ?? 0) * 1e6),
  messages: ({ thread }) => thread.messageCount ?? 0,
};

/** Compares two rows like the server. */
export const comparator =
  (sort: Sort = "newest") =>
  (a: ThreadSummary, b: ThreadSummary): number => {
    const by = VALUES[sort](b) - VALUES[sort](a);
    if (by) return by;
    const after = a.thread.id < b.thread.id ? 1 : -1;
    return sort === "oldest" ? -after : after;
  };
