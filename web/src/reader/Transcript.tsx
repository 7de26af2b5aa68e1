import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";
import type { Message } from "../partita.gen";
import { bytesOfData } from "../parts/addresses";
import { Messages } from "../parts/Messages";
import { MessageView } from "../parts/MessageView";
import { type Viewing, ViewingProvider } from "../viewing/viewing";
import styles from "./Transcript.module.css";

/** From here on only the messages in sight are drawn: up to here, the browser finds words in all of them. */
const MANY = 150;

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

/** Messages that need nothing but themselves: no server, no store. */
export function Transcript({ messages, head, label }: Props) {
  const box = useRef<HTMLElement>(null);
  const viewing = useMemo(() => ALONE, []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section ref={box} className={styles.box} aria-label={label} tabIndex={0}>
      <ViewingProvider value={viewing}>
        <div className={styles.measure}>
          {head}
          {messages.length > MANY ? (
            <InSight messages={messages} box={box} />
          ) : (
            messages.map((message, index) => (
              <div key={`${message.id}/${index}`} className={styles.message}>
                <MessageView message={message} />
              </div>
            ))
          )}
        </div>
      </ViewingProvider>
    </section>
  );
}

function InSight({
  messages,
  box,
}: {
  messages: readonly Message[];
  box: React.RefObject<HTMLElement | null>;
}) {
  const rows = useVirtualizer({
    count: messages.length,
    getScrollElement: () => box.current,
    estimateSize: () => 160,
    overscan: 6,
  });
  return (
    <div className={styles.room} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, key, start }) => {
        const message = messages[index];
        return (
          message && (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className={`${styles.message} ${styles.placed}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <MessageView message={message} />
            </div>
          )
        );
      })}
    </div>
  );
}
