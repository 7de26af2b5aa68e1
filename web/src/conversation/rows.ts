/** The rows of a conversation: what is stored, and what is live in its place. */
import type { Outline, OutlineRow } from "../api/messages";
import type { LiveState } from "../chat/live";

export interface Row {
  readonly id: string;
  readonly role: OutlineRow["role"];
  /** About how high it is before anybody has seen it. */
  readonly estimate: number;
}

const PER_LINE = 88;
const LINE = 25;

/** About how high a message is drawn. It is measured when it is seen. */
export function estimate({ role, type, size }: Pick<OutlineRow, "role" | "type" | "size">): number {
  if (type === "event") return 44;
  const lines = Math.ceil(Math.max(0, size - 60) / PER_LINE);
  if (type === "tool") return Math.min(120 + lines * 8, 640);
  return Math.min((role === "user" ? 72 : 60) + lines * LINE, 1600);
}

const NEW = 96;

/** All rows in order: `after` says behind which stored message the live ones stand. */
export function rowsOf(
  outline: Outline | undefined,
  live: readonly { readonly id: string; readonly role: OutlineRow["role"] }[],
  after: LiveState["after"],
): readonly Row[] {
  const stored = outline?.rows ?? [];
  const kept = live.length ? stored.slice(0, cutAt(stored, after)) : stored;
  const rows: Row[] = kept.map((row) => ({ id: row.id, role: row.role, estimate: estimate(row) }));
  if (!live.length) return rows;
  const known = new Set(rows.map((row) => row.id));
  for (const { id, role } of live) if (!known.has(id)) rows.push({ id, role, estimate: NEW });
  return rows;
}

function cutAt(stored: readonly OutlineRow[], after: LiveState["after"]): number {
  if (after === null) return 0;
  const place = after === undefined ? -1 : stored.findLastIndex((row) => row.id === after);
  return place < 0 ? stored.length : place + 1;
}

/** The next row in a direction of which something holds; where there is none, where we are. */
export function step(
  rows: readonly Row[],
  from: number,
  by: 1 | -1,
  holds: (row: Row) => boolean = () => true,
): number {
  for (let index = from + by; index >= 0 && index < rows.length; index += by) {
    const row = rows[index];
    if (row && holds(row)) return index;
  }
  return from;
}
