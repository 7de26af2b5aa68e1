import { memo, type ReactNode, startTransition, useEffect, useMemo, useState } from "react";
import { type RenderContext, RenderProvider } from "../context/renderContext";
import type { Message } from "../partita.gen";
import { bytesOfData } from "../parts/fileUrls";
import { Messages } from "../parts/Messages";
import { MessageView } from "../parts/MessageView";
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
}

/**
 * Messages without a server. All of them are in the document, so that the browser can search and print them. The
 * browser lays out only those near the viewport.
 */
export function Transcript({ messages, head, label }: Props) {
  const groups = useMemo(() => grouped(messages), [messages]);
  const [rendered, setRendered] = useState(GROUPS_PER_RENDER);
  const isBusy = rendered < groups.length;
  useEffect(() => {
    if (isBusy) startTransition(() => setRendered(rendered + GROUPS_PER_RENDER));
  }, [rendered, isBusy]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.box} aria-label={label} tabIndex={0} aria-busy={isBusy}>
      <RenderProvider value={OFFLINE}>
        <div className={styles.measure}>
          {head}
          {groups.slice(0, rendered).map((group, index) => (
            <Group key={index} messages={group} />
          ))}
        </div>
      </RenderProvider>
    </section>
  );
}

const Group = memo(function Group({ messages }: { messages: readonly Message[] }) {
  return (
    <div className={styles.group}>
      {messages.map((message, index) => (
        <div key={index} className={styles.message}>
          <MessageView message={message} />
        </div>
      ))}
    </div>
  );
});

const grouped = (messages: readonly Message[]): readonly (readonly Message[])[] =>
  Array.from({ length: Math.ceil(messages.length / GROUP_SIZE) }, (_, at) =>
    messages.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE),
  );
