/** Slices: what a message says, and the calls and reasoning before and after it. */
import type { OutlineRow } from "../api/messages";
import { type CallCounts, totalCalls } from "../parts/callTotals";
import type { Row } from "./rows";

export interface Slice {
  readonly row: Row;
  /** The index of the first part, and the index after the last one; null: up to the last. */
  readonly from: number;
  readonly to: number | null;
  readonly kind: "text" | "work" | "event";
  readonly counts: CallCounts;
  readonly failed: number;
}

const NO_CALLS: CallCounts = {};

export const callsOf = ({ calls }: Pick<OutlineRow, "calls">): number => totalCalls(calls ?? NO_CALLS);

/** The slices of a message in order. A message whose calls are at several places is not cut. */
export function slicesOf(row: Row): readonly Slice[] {
  const { stored, role, type } = row;
  const counts = stored?.calls ?? NO_CALLS;
  const failed = stored?.failed ?? 0;
  const slice = (kind: Slice["kind"], from: number, to: number | null, hasCalls: boolean): Slice => ({
    row,
    from,
    to,
    kind,
    counts: hasCalls ? counts : NO_CALLS,
    failed: hasCalls ? failed : 0,
  });
  if (type === "event") return [slice("event", 0, null, true)];
  const whole = slice("text", 0, null, true);
  if (!stored || role === "user" || role === "system") return [whole];
  const { start, end, before, inside } = stored;
  if (start === 0 && end === 0) return [slice("work", 0, null, true)];
  const after = totalCalls(counts) - before - inside;
  if ([before, inside, after].filter((one) => one > 0).length > 1 || inside > 0) return [whole];
  return [
    ...(start > 0 ? [slice("work", 0, start, before > 0)] : []),
    slice("text", start, end, false),
    ...(end !== null ? [slice("work", end, null, after > 0)] : []),
  ];
}

/** Consecutive slices of a message as one. */
export function joined(slices: readonly Slice[]): readonly Slice[] {
  const found: Slice[] = [];
  for (const slice of slices) {
    const last = found.at(-1);
    if (last && last.row === slice.row && last.to === slice.from)
      found[found.length - 1] = {
        ...last,
        to: slice.to,
        kind: last.kind === "text" || slice.kind === "text" ? "text" : last.kind,
        counts: totalCalls(last.counts) ? last.counts : slice.counts,
        failed: last.failed + slice.failed,
      };
    else found.push(slice);
  }
  return found;
}

/** Whether a slice contains a part of its message. */
export const holds = ({ from, to }: Slice, part: number): boolean =>
  part >= from && (to === null || part < to);
