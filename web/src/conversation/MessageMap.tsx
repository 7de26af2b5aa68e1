import { type RefObject, useCallback, useMemo } from "react";
import type { FindState } from "../find/useFind";
import { Minimap } from "../outline/Minimap";
import type { Mark } from "../outline/marks";
import type { ListControl } from "./MessageList";
import type { Turns } from "./useTurns";

interface Props {
  readonly turns: Turns;
  readonly find: FindState;
  readonly list: RefObject<ListControl | null>;
  readonly onShow: (place: { readonly messageId: string; readonly part: string | null }) => void;
}

/** The scroll bar of the messages: what happened where, and the matches of the find bar. */
export function MessageMap({ turns: { nodes }, find, list, onShow }: Props) {
  const parts = find.isOpen ? find.parts : null;
  const marks = useMemo(() => {
    const found: Mark[] = (parts ?? []).map(({ messageId, part }) => ({
      kind: "match",
      messageId,
      part: part ?? null,
    }));
    for (const { turn, entries } of nodes ?? []) {
      found.push({ kind: "question", messageId: turn.messageId, part: null });
      for (const { kind, messageId, part } of entries)
        if (kind !== "commit") found.push({ kind, messageId, part });
    }
    return found;
  }, [nodes, parts]);
  return (
    <Minimap
      marks={marks}
      scroller={useCallback(() => list.current?.scroller() ?? null, [list])}
      extentOf={useCallback((messageId: string) => list.current?.extentOf(messageId) ?? null, [list])}
      onShow={(messageId, part) => onShow({ messageId, part })}
    />
  );
}
