/** The turns of the messages that are shown, with what happened in them. */
import { useMemo } from "react";
import type { Outline } from "../api/messages";
import { type TurnNode, turnNodes } from "../outline/model";
import type { ThreadOverview } from "../partita.gen";

export interface Turns {
  /** Null while they are loading. */
  readonly nodes: readonly TurnNode[] | null;
  /** The index of a message. Live messages come after the stored ones. */
  readonly rowOf: (messageId: string | null) => number;
}

export function useTurns(outline: Outline | undefined, overview: ThreadOverview | undefined): Turns {
  const rows = outline?.rows;
  const order = useMemo(() => new Map(rows?.map(({ id }, row) => [id, row])), [rows]);
  const nodes = useMemo(() => {
    if (!rows || !overview) return null;
    const messages = rows.map((one) => ({ id: one.id, isFailed: one.hasErrors && one.failed === 0 }));
    return turnNodes(overview, messages);
  }, [rows, overview]);
  return useMemo(
    () => ({ nodes, rowOf: (id) => (id === null ? 0 : (order.get(id) ?? order.size)) }),
    [nodes, order],
  );
}
