/** What the address of the page says is to be shown, and the addresses of the threads behind a number. */
import type { Split, StatFilters, Step } from "../api/analytics";
import { href, type Params } from "../ui/routing";
import { previous, type Span, spanOf, usualStep } from "./periods";

export interface Shown {
  readonly query: URLSearchParams;
  readonly span: Span;
  readonly filters: StatFilters;
  /** The same before; undefined when everything is shown. */
  readonly before?: StatFilters;
  readonly step: Step;
  readonly split: Split;
  readonly thread?: string;
}

const STEPS: readonly string[] = ["day", "week", "month"] satisfies Step[];
const SPLITS: readonly string[] = ["model", "agent", "project"] satisfies Split[];

export function shownBy(query: URLSearchParams, now: Date): Shown {
  const span = spanOf(query, now);
  const earlier = previous(span, now);
  const step = query.get("step") ?? "";
  const split = query.get("split") ?? "";
  const narrowed = {
    agent: query.get("agent") || undefined,
    project: query.get("project") || undefined,
    model: query.get("model") || undefined,
  };
  return {
    query,
    span,
    filters: { ...moments(span), ...narrowed },
    before: earlier && { ...moments(earlier), ...narrowed },
    step: STEPS.includes(step) ? (step as Step) : usualStep(span, now),
    split: SPLITS.includes(split) ? (split as Split) : "model",
    thread: query.get("thread") || undefined,
  };
}

export const moments = ({ since, until }: Span): StatFilters => ({
  since: since?.toISOString(),
  until: until?.toISOString(),
});

/** This page, with something changed; null takes it out. */
export function changed(query: URLSearchParams, changes: Params): string {
  return href(["analytics"], { ...Object.fromEntries(query), ...changes });
}

export interface Behind extends StatFilters {
  readonly tool?: string | null;
  readonly errors?: boolean;
  readonly ids?: readonly string[];
}

/**
 * The list of the threads behind a number. Where they are few they are named one by one: then the list has
 * exactly those, whatever a session did before or after. Else by the filters that they fit.
 */
export function toThreads({ ids, errors, ...filters }: Behind): string {
  const failed = errors ? 1 : null;
  if (ids?.length && ids.every((id) => !id.includes(",")))
    return href([], { ids: ids.join(","), errors: failed });
  return href([], { ...filters, errors: failed });
}
