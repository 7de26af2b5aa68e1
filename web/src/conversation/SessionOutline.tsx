import type { TurnNode } from "../outline/model";
import { OutlinePanel } from "../outline/OutlinePanel";
import type { OutlinePane } from "../outline/useOutlinePane";
import { type Position, useCurrentMessage } from "./usePosition";
import type { Turns } from "./useTurns";

interface Props {
  readonly pane: OutlinePane;
  readonly turns: Turns;
  readonly position: Position;
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
  readonly onTimeline: (node: TurnNode) => void;
}

/** The outline of the session, at the message that is at the top of the list. */
export function SessionOutline({ turns, position, ...props }: Props) {
  const current = useCurrentMessage(position);
  return <OutlinePanel {...props} nodes={turns.nodes} currentRow={turns.rowOf(current)} />;
}
