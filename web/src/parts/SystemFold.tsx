import type { ReactNode } from "react";
import { containsTarget, type PartPlace, useRenderContext } from "../context/renderContext";
import type { Message } from "../partita.gen";
import { Fold } from "../ui/Fold";
import { plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./EventLine.module.css";
import { firstLine } from "./toMarkdown";

/** Instructions, collapsed: they are long and rarely read. */
export function SystemFold({
  message,
  place,
  children,
}: {
  message: Message;
  place: PartPlace;
  children: ReactNode;
}) {
  const { target } = useRenderContext();
  const length = message.content.parts.reduce(
    (sum, part) => sum + (typeof part.text === "string" ? part.text.length : 0),
    0,
  );
  return (
    <Fold
      holds={containsTarget(place, target) && Boolean(target?.path)}
      head={
        <span className={styles.head}>
          <span className={styles.text}>{visible(firstLine(message)) || "Instructions"}</span>
          <span className={styles.when}>{plural(length, "character")}</span>
        </span>
      }
    >
      <div className={styles.body}>{children}</div>
    </Fold>
  );
}
