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

const NO_TURNS: Turns = { nodes: null, rowOf: () => 0 };

export function useTurns(outline: Outline | undefined, overview: ThreadOverview | undefined): Turns {
  const rows = outline?.rows;
  return useMemo(() => {
    if (!rows || !overview) return NO_TURNS;
    const order = new Map(rows.map(({ id }, row) => [id, row]));
    const messages = rows.map((one) => ({ id: one.id, isFailed: one.hasErrors && one.failed === 0 }));
    return {
      nodes: turnNodes(overview, messages),
      rowOf: (id) => (id === null ? 0 : (order.get(id) ?? order.size)),
    };
  }, [rows, overview]);
}
