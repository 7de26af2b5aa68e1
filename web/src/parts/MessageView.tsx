import { memo, type ReactNode, useContext, useId } from "react";
import { MessageTime, type PartPlace } from "../context/renderContext";
import { HeadingLevel } from "../markdown/headingLevel";
import type { Message } from "../partita.gen";
import { Boundary } from "../ui/Boundary";
import { anchorOf, samePlace } from "./anchors";
import { BrokenMessage } from "./BrokenMessage";
import { Depth } from "./depth";
import { EventLine } from "./EventLine";
import { MessageBody, type ShownParts } from "./MessageBody";
import { MessageHead } from "./MessageHead";
import styles from "./MessageView.module.css";
import { SystemFold } from "./SystemFold";

interface Props {
  readonly message: Message;
  /** The nesting depth; by default that of the context. */
  readonly depth?: number;
  /** Additional buttons. */
  readonly actions?: ReactNode;
  /** The position inside another message: `2.children.0`. */
  readonly within?: PartPlace;
  /** Only some of its parts. */
  readonly shown?: ShownParts;
}

/** A message. It renders again only if the message changes. */
export const MessageView = memo(
  function MessageView(props: Props) {
    const { message } = props;
    return (
      <Boundary value={message} fallback={(error) => <BrokenMessage message={message} error={error} />}>
        <Article {...props} />
      </Boundary>
    );
  },
  (one, other) =>
    one.message === other.message &&
    one.depth === other.depth &&
    one.actions === other.actions &&
    one.shown === other.shown &&
    (one.within === other.within ||
      (one.within !== undefined && other.within !== undefined && samePlace(one.within, other.within))),
);

function Article({ message, depth, actions, within, shown }: Props) {
  const contextDepth = useContext(Depth);
  const level = depth ?? contextDepth;
  const id = useId();
  const place = within ?? { threadId: message.threadId, messageId: message.id, path: "" };
  const isEvent = message.type === "event";
  const isBare = shown?.isBare ?? false;
  const head = <MessageHead id={id} message={message} place={place} actions={actions} level={2 + level} />;
  const body = (
    <MessageTime.Provider value={message.createdAt}>
      <MessageBody message={message} place={place} shown={shown} />
    </MessageTime.Provider>
  );
  if (isBare && !isEvent)
    return (
      <HeadingLevel.Provider value={3 + level}>
        <div className={styles.bare}>{body}</div>
      </HeadingLevel.Provider>
    );
  return (
    <HeadingLevel.Provider value={3 + level}>
      <article
        id={anchorOf(place.messageId, place.path)}
        className={styles.message}
        data-place={place.path ? `${place.messageId}/${place.path}` : place.messageId}
        data-role={message.role}
        data-event={isEvent}
        data-depth={level}
        aria-labelledby={isEvent ? undefined : id}
        aria-label={isEvent ? "Event" : undefined}
      >
        {isEvent ? (
          <EventLine message={message} place={place} actions={actions}>
            {body}
          </EventLine>
        ) : message.role === "system" ? (
          <>
            {head}
            <SystemFold message={message} place={place}>
              {body}
            </SystemFold>
          </>
        ) : (
          <>
            {head}
            {body}
          </>
        )}
      </article>
    </HeadingLevel.Provider>
  );
}
