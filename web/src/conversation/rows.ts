/** The rows of a conversation: the stored messages, and the live messages that replace or follow them. */
import type { Outline, OutlineRow } from "../api/messages";
import { type LiveState, storedBefore } from "../chat/live";
import type { Message } from "../partita.gen";

export interface Row {
  readonly id: string;
  readonly role: OutlineRow["role"];
  readonly type: OutlineRow["type"];
  readonly internal: boolean;
  /** The estimated height in pixels, before the row has been measured. */
  readonly estimate: number;
}

const CHARACTERS_PER_LINE = 88;
const LINE_HEIGHT = 25;

/** The estimated height of a message in pixels. */
export function estimate({ role, type, size }: Pick<OutlineRow, "role" | "type" | "size">): number {
  if (type === "event") return 44;
  const lines = Math.ceil(Math.max(0, size - 60) / CHARACTERS_PER_LINE);
  if (type === "tool") return Math.min(120 + lines * 8, 640);
  return Math.min((role === "user" ? 72 : 60) + lines * LINE_HEIGHT, 1600);
}

const LIVE_ROW_HEIGHT = 96;

/** All rows in order. `after` is the id of the stored message that the live ones follow. */
export function rowsOf(
  outline: Outline | undefined,
  live: readonly (Pick<Message, "id" | "role"> & { readonly type?: Message["type"] })[],
  after: LiveState["after"],
): readonly Row[] {
  const stored = outline?.rows ?? [];
  const kept = live.length ? storedBefore(stored, after) : stored;
  const rows: Row[] = kept.map((row) => ({
    id: row.id,
    role: row.role,
    type: row.type,
    internal: row.internal,
    estimate: estimate(row),
  }));
  if (!live.length) return rows;
  const known = new Set(rows.map((row) => row.id));
  for (const { id, role, type } of live)
    if (!known.has(id))
      rows.push({ id, role, type: type ?? "text", internal: false, estimate: LIVE_ROW_HEIGHT });
  return rows;
}

/** Whether a row is a prompt of the user: the start of a turn. */
export const isQuestion = ({ role, type, internal }: Pick<Row, "role" | "type" | "internal">): boolean =>
  role === "user" && type !== "event" && !internal;
