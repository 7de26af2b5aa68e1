import { memo, type ReactNode, startTransition, useEffect, useMemo, useState } from "react";
import type { Message } from "../partita.gen";
import { bytesOfData } from "../parts/addresses";
import { Messages } from "../parts/Messages";
import { MessageView } from "../parts/MessageView";
import { type Viewing, ViewingProvider } from "../viewing/viewing";
import styles from "./Transcript.module.css";

/** How many messages are drawn, and laid out, together. */
const GROUP = 20;
/** How many groups are drawn at once. The others follow in the background. */
const GROUPS = 4;

const ALONE: Viewing = {
  live: false,
  timing: () => undefined,
  loadBlob: (url) =>
    url.startsWith("data:")
      ? Promise.resolve(bytesOfData(url)).then((data) => ({
          data,
          size: data.length,
          mediaType: /^data:([^;,]*)/.exec(url)?.[1] ?? "",
        }))
      : Promise.reject(new Error("These bytes are not in this file.")),
  blobHref: () => null,
  Messages,
};

interface Props {
  readonly messages: readonly Message[];
  /** What stands above the messages and scrolls with them. */
  readonly head?: ReactNode;
  readonly label: string;
}

/**
 * Messages that need nothing but themselves: no server, no store. All of them are in the document, so that the
 * browser can find and print them; it lays out those that are near the screen.
 */
export function Transcript({ messages, head, label }: Props) {
  const groups = useMemo(() => grouped(messages), [messages]);
  const [drawn, setDrawn] = useState(GROUPS);
  const isBusy = drawn < groups.length;
  useEffect(() => {
    if (isBusy) startTransition(() => setDrawn(drawn + GROUPS));
  }, [drawn, isBusy]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className={styles.box} aria-label={label} tabIndex={0} aria-busy={isBusy}>
      <ViewingProvider value={ALONE}>
        <div className={styles.measure}>
          {head}
          {groups.slice(0, drawn).map((group, index) => (
            <Group key={index} messages={group} />
          ))}
        </div>
      </ViewingProvider>
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
  Array.from({ length: Math.ceil(messages.length / GROUP) }, (_, at) =>
    messages.slice(at * GROUP, (at + 1) * GROUP),
  );
