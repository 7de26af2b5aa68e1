import { memo, type ReactNode, useContext, useId } from "react";
import { MessageTime, type PartPlace } from "../context/renderContext";
import { HeadingLevel } from "../markdown/headingLevel";
import type { AssistantMessage, Message, Part } from "../partita.gen";
import { Boundary } from "../ui/Boundary";
import { anchorOf, samePlace } from "./anchors";
import { BrokenMessage } from "./BrokenMessage";
import { Depth } from "./depth";
import { EndNotice } from "./EndNotice";
import { EventLine } from "./EventLine";
import { MessageHead } from "./MessageHead";
import styles from "./MessageView.module.css";
import { NetworkView } from "./NetworkView";
import { PartView } from "./PartView";
import { SystemFold } from "./SystemFold";

interface Props {
  readonly message: Message;
  /** The nesting depth; by default that of the context. */
  readonly depth?: number;
  /** Additional buttons. */
  readonly actions?: ReactNode;
  /** The position inside another message: `2.children.0`. */
  readonly within?: PartPlace;
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
    (one.within === other.within ||
      (one.within !== undefined && other.within !== undefined && samePlace(one.within, other.within))),
);

function Article({ message, depth, actions, within }: Props) {
  const contextDepth = useContext(Depth);
  const level = depth ?? contextDepth;
  const id = useId();
  const place = within ?? { threadId: message.threadId, messageId: message.id, path: "" };
  const isEvent = message.type === "event";
  const head = <MessageHead id={id} message={message} place={place} actions={actions} level={2 + level} />;
  const body = (
    <MessageTime.Provider value={message.createdAt}>
      <MessageBody message={message} place={place} />
    </MessageTime.Provider>
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

function MessageBody({ message, place }: { message: Message; place: PartPlace }) {
  const parts: readonly Part[] = message.content.parts;
  const network =
    message.role === "assistant" ? (message as AssistantMessage).content.networkExecution : null;
  return (
    <div className={styles.parts}>
      {network && (
        <NetworkView network={network} place={{ ...place, path: joinPath(place.path, "network") }} />
      )}
      {grouped(parts).map(({ start, members, kind }) => {
        const views = members.map((part, index) => (
          <PartView
            key={start + index}
            part={part}
            place={{ ...place, path: joinPath(place.path, String(start + index)) }}
            messageRole={message.role}
            last={start + index === parts.length - 1}
            step={part.type === "step-start" ? stepNumber(parts, start + index) : undefined}
          />
        ));
        return kind === "sources" ? (
          <div key={start} className={styles.sources}>
            {views}
          </div>
        ) : (
          views
        );
      })}
      {parts.length === 0 && !network && <p className={styles.empty}>No content.</p>}
      <EndNotice message={message} />
    </div>
  );
}

const joinPath = (path: string, step: string): string => (path ? `${path}.${step}` : step);

const stepNumber = (parts: readonly Part[], end: number): number =>
  parts.slice(0, end + 1).filter((part) => part.type === "step-start").length;

interface Group {
  readonly start: number;
  readonly kind: "sources" | "one";
  readonly members: readonly Part[];
}

/** Groups consecutive sources into one row. */
export function grouped(parts: readonly Part[]): readonly Group[] {
  const groups: { start: number; kind: Group["kind"]; members: Part[] }[] = [];
  parts.forEach((part, index) => {
    const kind = part.type === "source-url" || part.type === "source-document" ? "sources" : "one";
    const last = groups.at(-1);
    if (kind === "sources" && last?.kind === "sources") last.members.push(part);
    else groups.push({ start: index, kind, members: [part] });
  });
  return groups;
}
