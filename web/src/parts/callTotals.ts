/** How many calls of each kind a group has, in words. */
import type { ToolView } from "../partita.gen";
import { plural } from "../ui/format";

/** How many calls of each kind. */
export type CallCounts = Readonly<Record<string, number>>;

export interface CallTotals {
  readonly counts: CallCounts;
  readonly failed: number;
  /** From the start of the first to the end of the last; null if unknown. */
  readonly seconds: number | null;
}

/** The kinds in the order in which they are listed. */
const NAMES: readonly (readonly [ToolView["kind"], string, string?])[] = [
  ["command", "command"],
  ["edit", "edit"],
  ["read", "read"],
  ["search", "search", "searches"],
  ["fetch", "fetch", "fetches"],
  ["web-search", "web search", "web searches"],
  ["agent", "sub-agent"],
  ["network", "network"],
  ["todos", "to-do list"],
  ["plan", "plan"],
  ["question", "question"],
  ["other", "other"],
];

export const totalCalls = (counts: CallCounts): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

/** 12 commands, 8 edits, 3 searches */
export function kindsOf(counts: CallCounts): string {
  const known = new Set<string>(NAMES.map(([kind]) => kind));
  const unknown = Object.entries(counts).reduce((sum, [kind, one]) => sum + (known.has(kind) ? 0 : one), 0);
  return NAMES.flatMap(([kind, one, many]) => {
    const value = (counts[kind] ?? 0) + (kind === "other" ? unknown : 0);
    if (!value) return [];
    return kind === "other" ? [`${value} other`] : [plural(value, one, many)];
  }).join(", ");
}

export function addCounts(all: readonly CallCounts[]): CallCounts {
  const sum: Record<string, number> = {};
  for (const counts of all)
    for (const [kind, value] of Object.entries(counts)) sum[kind] = (sum[kind] ?? 0) + value;
  return sum;
}
