/** The selection in the address of the page, and the links to the threads of a number. */
import type { Split, StatFilters, Step } from "../api/analytics";
import { href, type Params } from "../ui/routing";
import { defaultStep, previous, type Span, spanOf } from "./periods";

export interface Selection {
  readonly query: URLSearchParams;
  readonly span: Span;
  readonly filters: StatFilters;
  /** The filters for the previous period; undefined if all time is selected. */
  readonly before?: StatFilters;
  readonly step: Step;
  readonly split: Split;
  /** The session whose context growth is shown. */
  readonly thread?: string;
  /** The project whose sessions the map of costs shows. */
  readonly zoom?: string;
}

const STEPS: readonly string[] = ["day", "week", "month"] satisfies Step[];
const SPLITS: readonly string[] = ["model", "agent", "project"] satisfies Split[];

export function selectionOf(query: URLSearchParams, now: Date): Selection {
  const span = spanOf(query, now);
  const earlier = previous(span, now);
  const step = query.get("step") ?? "";
  const split = query.get("split") ?? "";
  const filters = {
    agent: query.get("agent") || undefined,
    project: query.get("project") || undefined,
    model: query.get("model") || undefined,
  };
  return {
    query,
    span,
    filters: { ...isoRange(span), ...filters },
    before: earlier && { ...isoRange(earlier), ...filters },
    step: STEPS.includes(step) ? (step as Step) : defaultStep(span, now),
    split: SPLITS.includes(split) ? (split as Split) : "model",
    thread: query.get("thread") || undefined,
    zoom: query.get("zoom") || undefined,
  };
}

export const isoRange = ({ since, until }: Span): StatFilters => ({
  since: since?.toISOString(),
  until: until?.toISOString(),
});

/** The link to this page with some parameters changed; null removes a parameter. */
export function hrefWith(query: URLSearchParams, changes: Params): string {
  return href(["analytics"], { ...Object.fromEntries(query), ...changes });
}

const LIST = ["sessions"];

interface ThreadFilters extends StatFilters {
  readonly tool?: string | null;
  readonly errors?: boolean;
  readonly ids?: readonly string[];
}

/**
 * The link to the list with the threads of a number. Few threads are listed by id, so that the list contains exactly
 * those: its filters by time, agent and model mean the thread, those of statistics each message or run. Many are
 * selected by filters.
 */
export function toThreads({ ids, errors, ...filters }: ThreadFilters): string {
  const failed = errors ? 1 : null;
  if (!ids?.length || ids.some((id) => id.includes(","))) return href(LIST, { ...filters, errors: failed });
  const { project, tool } = filters;
  return href(LIST, { project, tool, ids: ids.join(","), errors: failed });
}
