import { memo, type ReactNode, useContext, useId } from "react";
import { HeadingLevel } from "../markdown/level";
import type { AssistantMessage, Message, Part } from "../partita.gen";
import { Boundary } from "../ui/Boundary";
import type { PartPlace } from "../viewing/viewing";
import { anchorOf, samePlace } from "./anchors";
import { BrokenMessage } from "./BrokenMessage";
import { Depth } from "./depth";
import { Ending } from "./Ending";
import { EventLine } from "./EventLine";
import { MessageHead } from "./MessageHead";
import styles from "./MessageView.module.css";
import { NetworkView } from "./NetworkView";
import { PartView } from "./PartView";
import { SystemFold } from "./SystemFold";

interface Props {
  readonly message: Message;
  /** In how many threads it is; unless said, as many as there are around it. */
  readonly depth?: number;
  /** More buttons beside those to copy. */
  readonly actions?: ReactNode;
  /** Where it is, if it is inside a part of another message: `2.children.0`. */
  readonly within?: PartPlace;
}

/** A message: who, when, at what cost, and its parts. One that did not change is not drawn again. */
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
  const around = useContext(Depth);
  const deep = depth ?? around;
  const id = useId();
  const place = within ?? { threadId: message.threadId, messageId: message.id, path: "" };
  const isEvent = message.type === "event";
  const head = <MessageHead id={id} message={message} place={place} actions={actions} level={2 + deep} />;
  const body = <MessageBody message={message} place={place} />;
  return (
    <HeadingLevel.Provider value={3 + deep}>
      <article
        id={anchorOf(place.messageId, place.path)}
        className={styles.message}
        data-place={place.path ? `${place.messageId}/${place.path}` : place.messageId}
        data-role={message.role}
        data-event={isEvent}
        data-depth={deep}
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
      {network && <NetworkView network={network} place={{ ...place, path: inside(place.path, "network") }} />}
      {grouped(parts).map(({ start, members, kind }) => {
        const drawn = members.map((part, index) => (
          <PartView
            key={start + index}
            part={part}
            place={{ ...place, path: inside(place.path, String(start + index)) }}
            speaker={message.role}
            last={start + index === parts.length - 1}
            step={part.type === "step-start" ? stepAt(parts, start + index) : undefined}
          />
        ));
        return kind === "sources" ? (
          <div key={start} className={styles.sources}>
            {drawn}
          </div>
        ) : (
          drawn
        );
      })}
      {parts.length === 0 && !network && <p className={styles.empty}>Nothing was said.</p>}
      <Ending message={message} />
    </div>
  );
}

const inside = (path: string, step: string): string => (path ? `${path}.${step}` : step);

const stepAt = (parts: readonly Part[], end: number): number =>
  parts.slice(0, end + 1).filter((part) => part.type === "step-start").length;

interface Group {
  readonly start: number;
  readonly kind: "sources" | "one";
  readonly members: readonly Part[];
}

/** Sources that follow each other stand in one row; every other part by itself. */
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
