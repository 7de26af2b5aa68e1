import { memo, type ReactNode, useMemo } from "react";
import { type RenderContext, RenderProvider } from "../context/renderContext";
import type { Message, OverviewTurn } from "../partita.gen";
import type { ShownParts } from "../parts/MessageBody";
import { MessageView } from "../parts/MessageView";
import { BranchSwitch } from "./BranchSwitch";
import type { MessageEntry } from "./entries";
import { type Actions, MessageActions } from "./MessageActions";
import styles from "./MessageRow.module.css";
import { TurnHead } from "./TurnHead";

interface Props {
  readonly message: Message | undefined;
  readonly context: RenderContext;
  readonly entry: MessageEntry;
  /** What the server knows about the turn that begins here. */
  readonly overview: OverviewTurn | undefined;
  readonly onTimeline: (messageId: string) => void;
  readonly index: number;
  readonly start: number;
  readonly height: number;
  /** Whether the message could not be loaded. The list shows the error. */
  readonly failed: boolean;
  readonly siblings: readonly string[] | undefined;
  readonly selected: boolean;
  readonly highlighted: boolean;
  readonly isLive: boolean;
  readonly editor: ReactNode;
  readonly actions: Actions;
  readonly measure: (element: HTMLElement | null) => void;
}

/** A message, or a slice of one, at its position; until it has loaded, a placeholder of the estimated height. */
export const MessageRow = memo(function MessageRow(props: Props) {
  const { message, entry, index, start, height, siblings, actions } = props;
  const { row, shown, isMain, turn } = entry;
  if (!message) {
    // The placeholder is not measured: the message that replaces it is.
    return (
      <div className={styles.row} style={{ top: start, height }} data-index={index} aria-hidden>
        {!props.failed && <div className={styles.skeleton} />}
      </div>
    );
  }
  return (
    <div
      ref={props.measure}
      className={styles.row}
      style={{ top: start }}
      data-index={index}
      data-message={isMain ? row.id : undefined}
      data-slice={isMain ? undefined : row.id}
      data-in-group={entry.inGroup}
      data-continues={entry.continues}
      data-selected={props.selected}
      data-highlighted={props.highlighted}
      tabIndex={-1}
    >
      <div className={styles.inside}>
        {turn && <TurnHead turn={turn} overview={props.overview} onTimeline={props.onTimeline} />}
        {props.editor ?? (
          <RenderProvider value={props.context}>
            <RowMessage message={message} shown={shown} actions={props.isLive ? null : actions} />
          </RenderProvider>
        )}
        {siblings && isMain && (
          <BranchSwitch messageId={row.id} siblings={siblings} onChoose={actions.chooseBranch} />
        )}
      </div>
    </div>
  );
});

/** Renders again if the message changes, not if its row moves. */
const RowMessage = memo(function RowMessage({
  message,
  shown,
  actions,
}: {
  message: Message;
  shown: ShownParts | undefined;
  actions: Actions | null;
}) {
  const more = useMemo(
    () => (actions ? <MessageActions message={message} actions={actions} /> : undefined),
    [message, actions],
  );
  return <MessageView message={message} shown={shown} actions={more} />;
});
