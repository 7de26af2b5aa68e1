import type { ReactNode } from "react";
import type { Message } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { plural } from "../ui/format";
import { visible } from "../ui/hostile";
import { type PartPlace, useViewing } from "../viewing/viewing";
import { holds } from "./anchors";
import styles from "./EventLine.module.css";
import { firstWords } from "./plain";

/** Instructions: long, the same every time, and rarely read. They are folded. */
export function SystemFold({
  message,
  place,
  children,
}: {
  message: Message;
  place: PartPlace;
  children: ReactNode;
}) {
  const { target } = useViewing();
  const length = message.content.parts.reduce(
    (sum, part) => sum + (typeof part.text === "string" ? part.text.length : 0),
    0,
  );
  return (
    <Fold
      open={holds(place, target) && Boolean(target?.path)}
      head={
        <span className={styles.head}>
          <span className={styles.words}>{visible(firstWords(message)) || "Instructions"}</span>
          <span className={styles.when}>{plural(length, "character")}</span>
        </span>
      }
    >
      <div className={styles.body}>{children}</div>
    </Fold>
  );
}
