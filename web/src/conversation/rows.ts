/** The rows of a conversation: the stored messages, and the live messages that replace or follow them. */
import { FIRST, type Outline, type OutlineRow } from "../api/messages";
import { type LiveState, storedBefore } from "../chat/live";
import { MANY_QUESTIONS } from "../outline/useOutlinePane";
import type { Message } from "../partita.gen";

export interface Row {
  readonly id: string;
  readonly role: OutlineRow["role"];
  readonly type: OutlineRow["type"];
  readonly internal: boolean;
  /** The stored message; absent if the message is live. */
  readonly stored?: OutlineRow;
}

/** All rows in order. `after` is the id of the stored message that the live ones follow. */
export function rowsOf(
  outline: Outline | undefined,
  live: readonly (Pick<Message, "id" | "role"> & { readonly type?: Message["type"] })[],
  after: LiveState["after"],
): readonly Row[] {
  const stored = outline?.rows ?? [];
  const kept = live.length ? storedBefore(stored, after) : stored;
  const liveIds = new Set(live.map(({ id }) => id));
  const rows: Row[] = kept.map((row) => ({
    id: row.id,
    role: row.role,
    type: row.type,
    internal: row.internal,
    stored: liveIds.has(row.id) ? undefined : row,
  }));
  if (!live.length) return rows;
  const known = new Set(rows.map((row) => row.id));
  for (const { id, role, type } of live)
    if (!known.has(id)) rows.push({ id, role, type: type ?? "text", internal: false });
  return rows;
}

/** Whether a row is a prompt of the user: the start of a turn. */
export const isQuestion = ({ role, type, internal }: Pick<Row, "role" | "type" | "internal">): boolean =>
  role === "user" && type !== "event" && !internal;

/** Whether an outline helps to read a session. Known before all of its rows. */
export const isLong = ({ total, rows }: Outline): boolean =>
  total > FIRST || rows.filter(isQuestion).length >= MANY_QUESTIONS;
