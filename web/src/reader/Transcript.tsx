import { memo, type ReactNode, type RefObject, startTransition, useEffect, useMemo, useState } from "react";
import { type RenderContext, RenderProvider } from "../context/renderContext";
import type { Message, OverviewTurn } from "../partita.gen";
import { anchorOf } from "../parts/anchors";
import { bytesOfData } from "../parts/fileUrls";
import { Messages } from "../parts/Messages";
import { MessageView } from "../parts/MessageView";
import { TurnLine } from "../parts/TurnLine";
import styles from "./Transcript.module.css";

/** Messages per group. The browser lays out a group as a whole. */
const GROUP_SIZE = 20;
/** Groups that render at once. The others follow in the background. */
const GROUPS_PER_RENDER = 4;

const OFFLINE: RenderContext = {
  live: false,
  timing: () => undefined,
  loadBlob: (url) =>
    url.startsWith("data:")
      ? Promise.resolve(bytesOfData(url)).then((data) => ({
          data,
          size: data.length,
          mediaType: /^data:([^;,]*)/.exec(url)?.[1] ?? "",
        }))
      : Promise.reject(new Error("This file does not contain these bytes.")),
  blobHref: () => null,
  Messages,
};

interface Props {
  readonly messages: readonly Message[];
  /** Rendered above the messages. It scrolls with them. */
  readonly head?: ReactNode;
  readonly label: string;
  /** What happened after each question. */
  readonly turns?: readonly OverviewTurn[];
  /** The message or part that is shown next. A new object shows it again. */
  readonly target?: Target | null;
  readonly box?: RefObject<HTMLElement | null>;
}

export type Target = NonNullable<RenderContext["target"]>;

/**
 * Messages without a server. All of them are in the document, so that the browser can search and print them. The
 * browser lays out only those near the viewport.
 */
export function Transcript({ messages, head, label, turns = NO_TURNS, target = null, box }: Props) {
  const groups = useMemo(() => grouped(messages), [messages]);
  const heads = useMemo(() => headsOf(messages, turns), [messages, turns]);
  const [inBackground, setInBackground] = useState(GROUPS_PER_RENDER);
  const index = target ? messages.findIndex(({ id }) => id === target.messageId) : -1;
  const targetGroup = index < 0 ? -1 : Math.floor(index / GROUP_SIZE);
  const rendered = Math.max(inBackground, targetGroup + 1);
  const isBusy = rendered < groups.length;
  useEffect(() => {
    if (isBusy) startTransition(() => setInBackground(rendered + GROUPS_PER_RENDER));
  }, [rendered, isBusy]);
  useEffect(() => (target ? scrollTo(target) : undefined), [target]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section ref={box} className={styles.box} aria-label={label} tabIndex={0} aria-busy={isBusy}>
      <div className={styles.measure}>
        {head}
        {groups.slice(0, rendered).map((group, index) => (
          <Group key={index} messages={group} heads={heads} target={index === targetGroup ? target : null} />
        ))}
      </div>
    </section>
  );
}

interface Turn extends OverviewTurn {
  readonly number: number;
}

const NO_TURNS: readonly OverviewTurn[] = [];

/** A file may have been edited: a message can be anything. */
const isQuestion = (message: Message | null): boolean => message?.role === "user";

/** By their questions: the turns, with their numbers. */
function headsOf(messages: readonly Message[], turns: readonly OverviewTurn[]): ReadonlyMap<string, Turn> {
  const questions = new Set(messages.flatMap((one) => (isQuestion(one) ? [one.id] : [])));
  const asked = turns.filter(({ messageId }) => questions.has(messageId));
  return new Map(asked.map((turn, index) => [turn.messageId, { ...turn, number: index + 1 }]));
}

function Head({ turn }: { turn: Turn | undefined }) {
  if (!turn) return null;
  return (
    <TurnLine
      number={turn.number}
      startedAt={turn.startedAt ?? null}
      seconds={turn.seconds}
      calls={turn.calls}
      failed={turn.failed}
      tokens={turn.inputTokens + turn.outputTokens}
      cost={turn.cost ?? null}
    />
  );
}

interface GroupProps {
  readonly messages: readonly Message[];
  readonly heads: ReadonlyMap<string, Turn>;
  readonly target: Target | null;
}

const Group = memo(function Group({ messages, heads, target }: GroupProps) {
  const context = useMemo(() => (target ? { ...OFFLINE, target } : OFFLINE), [target]);
  return (
    <RenderProvider value={context}>
      <div className={styles.group}>
        {messages.map((message, index) => (
          <div key={index} className={styles.message}>
            <Head turn={isQuestion(message) ? heads.get(message.id) : undefined} />
            <MessageView message={message} />
          </div>
        ))}
      </div>
    </RenderProvider>
  );
});

/** Frames until the heights of the messages above are known. */
const FRAMES = 12;

/** Scrolls to a message or part: repeatedly, because messages get their heights when they are laid out. */
function scrollTo({ messageId, path }: Target): () => void {
  let [frame, left] = [0, FRAMES];
  const abort = new AbortController();
  const stop = () => {
    cancelAnimationFrame(frame);
    abort.abort();
  };
  const scroll = () => {
    const part = path ? document.getElementById(anchorOf(messageId, path)) : null;
    const element = part ?? document.getElementById(anchorOf(messageId));
    element?.scrollIntoView({ block: part ? "center" : "start" });
    left -= 1;
    if (left > 0) frame = requestAnimationFrame(scroll);
    else stop();
  };
  for (const type of ["wheel", "touchmove", "keydown"])
    document.addEventListener(type, stop, { passive: true, signal: abort.signal });
  scroll();
  return stop;
}

const grouped = (messages: readonly Message[]): readonly (readonly Message[])[] =>
  Array.from({ length: Math.ceil(messages.length / GROUP_SIZE) }, (_, at) =>
    messages.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE),
  );
