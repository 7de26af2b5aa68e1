import { Zap } from "lucide-react";
import type { ReactNode } from "react";
import { containsTarget, type PartPlace, useRenderContext } from "../context/renderContext";
import type { Message } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { ago, moment } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./EventLine.module.css";
import { MessageActions } from "./MessageHead";
import { firstLine } from "./toMarkdown";

interface Props {
  readonly message: Message;
  readonly place: PartPlace;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** An event message: one line that expands. */
export function EventLine({ message, place, actions, children }: Props) {
  const { target } = useRenderContext();
  const head = (
    <span className={styles.head}>
      <Zap size={13} aria-hidden />
      <span className={styles.text}>{visible(firstLine(message)) || "Event"}</span>
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
      holds={containsTarget(place, target) && Boolean(target?.path)}
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
