import { Zap } from "lucide-react";
import type { ReactNode } from "react";
import type { Message } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { ago, moment } from "../ui/format";
import { visible } from "../ui/hostile";
import { type PartPlace, useViewing } from "../viewing/viewing";
import { holds } from "./anchors";
import styles from "./EventLine.module.css";
import { MessageActions } from "./MessageHead";
import { firstWords } from "./plain";

interface Props {
  readonly message: Message;
  readonly place: PartPlace;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A notice, which nobody said: a thin line, with all of it below. */
export function EventLine({ message, place, actions, children }: Props) {
  const { target } = useViewing();
  const head = (
    <span className={styles.head}>
      <Zap size={13} aria-hidden />
      <span className={styles.words}>{visible(firstWords(message)) || "Event"}</span>
      {message.internal && <span className={styles.when}>internal</span>}
      {message.createdAt && (
        <time className={styles.when} dateTime={message.createdAt} title={moment(message.createdAt)}>
          {ago(message.createdAt)}
        </time>
      )}
    </span>
  );
  return (
    <Fold
      className={styles.event}
      head={head}
      open={holds(place, target) && Boolean(target?.path)}
      aside={
        <MessageActions message={message} place={place}>
          {actions}
        </MessageActions>
      }
    >
      <div className={styles.body}>{children}</div>
    </Fold>
  );
}
