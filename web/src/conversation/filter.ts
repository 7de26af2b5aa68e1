/** Filters: which kinds of messages and calls are displayed. */
import { viewOf } from "../context/toolViews";
import type { Part, ToolCallPart } from "../partita.gen";
import { hasFailed } from "../parts/failedCalls";
import { isQuestion, type Row } from "./rows";

export const FILTERS = [
  { kind: "questions", label: "Questions" },
  { kind: "answers", label: "Answers" },
  { kind: "reasoning", label: "Reasoning" },
  { kind: "commands", label: "Commands" },
  { kind: "edits", label: "Edits" },
  { kind: "reads", label: "Reads and searches" },
  { kind: "agents", label: "Sub-agents" },
  { kind: "errors", label: "Errors" },
  { kind: "other", label: "Other" },
] as const;

export type FilterKind = (typeof FILTERS)[number]["kind"];

/** The kinds that are displayed. Empty: everything. */
export type Filter = ReadonlySet<FilterKind>;

/** The filter of a kind of calls. */
function kindOf(view: string): FilterKind {
  if (view === "command") return "commands";
  if (view === "edit") return "edits";
  if (view === "read" || view === "search" || view === "fetch" || view === "web-search") return "reads";
  return view === "agent" || view === "network" ? "agents" : "other";
}

/** How many messages or calls of each kind a row has. */
export function countsOf(row: Row): Partial<Record<FilterKind, number>> {
  const { stored, role, type } = row;
  if (isQuestion(row)) return { questions: 1 };
  if (!stored) return { answers: 1 };
  const counts: Partial<Record<FilterKind, number>> = {};
  if (type === "event" || role !== "assistant") counts.other = 1;
  else if (stored.end !== 0) counts.answers = 1;
  if (stored.reasoning) counts.reasoning = 1;
  if (stored.hasErrors || stored.failed) counts.errors = Math.max(1, stored.failed);
  for (const [view, value] of Object.entries(stored.calls ?? {})) {
    const kind = kindOf(view);
    counts[kind] = (counts[kind] ?? 0) + value;
  }
  return counts;
}

export function matches(row: Row, filter: Filter): boolean {
  const counts = countsOf(row);
  return [...filter].some((kind) => (counts[kind] ?? 0) > 0);
}

/** Which parts of the messages that match are displayed. */
export const acceptedParts =
  (filter: Filter) =>
  (part: Part): boolean => {
    if (part.type === "reasoning") return filter.has("reasoning");
    if (part.type !== "tool-call") return filter.has("answers") || filter.has("questions");
    const call = part as ToolCallPart;
    return filter.has(kindOf(viewOf(call)?.kind ?? "other")) || (filter.has("errors") && hasFailed(call));
  };
