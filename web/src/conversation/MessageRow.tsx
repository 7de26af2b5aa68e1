import { memo, type ReactNode, useMemo } from "react";
import type { Message } from "../partita.gen";
import { MessageView } from "../parts/MessageView";
import { type Viewing, ViewingProvider } from "../viewing/viewing";
import { BranchSwitch } from "./BranchSwitch";
import { type Actions, MessageActions } from "./MessageActions";
import styles from "./MessageRow.module.css";

interface Props {
  readonly message: Message | undefined;
  readonly viewing: Viewing;
  readonly id: string;
  readonly index: number;
  readonly start: number;
  readonly height: number;
  readonly siblings: readonly string[] | undefined;
  readonly selected: boolean;
  readonly highlighted: boolean;
  readonly isLive: boolean;
  readonly editor: ReactNode;
  readonly actions: Actions;
  readonly measure: (element: HTMLElement | null) => void;
}

/** A message in its place; until it has come, about the room that it will take. */
export const MessageRow = memo(function MessageRow(props: Props) {
  const { message, id, index, start, height, siblings, actions } = props;
  if (!message) {
    // It is not measured: what comes in its place is, and then for the first time.
    return (
      <div className={styles.row} style={{ top: start, height }} data-index={index} aria-hidden>
        <div className={styles.skeleton} />
      </div>
    );
  }
  return (
    <div
      ref={props.measure}
      className={styles.row}
      style={{ top: start }}
      data-index={index}
      data-message={id}
      data-selected={props.selected}
      data-highlighted={props.highlighted}
      tabIndex={-1}
    >
      <div className={styles.inside}>
        {props.editor ?? (
          <ViewingProvider value={props.viewing}>
            <Drawn message={message} actions={props.isLive ? null : actions} />
          </ViewingProvider>
        )}
        {siblings && <BranchSwitch messageId={id} siblings={siblings} onChoose={actions.chooseBranch} />}
      </div>
    </div>
  );
});

/** Drawn again when the message is another, not when its row moves. */
const Drawn = memo(function Drawn({ message, actions }: { message: Message; actions: Actions | null }) {
  const more = useMemo(
    () => (actions ? <MessageActions message={message} actions={actions} /> : undefined),
    [message, actions],
  );
  return <MessageView message={message} actions={more} />;
});
