import { TriangleAlert } from "lucide-react";
import type { Message } from "../partita.gen";
import { useBodies } from "../tools/bodyLoader";
import { stringify } from "../tools/json";
import { CopyButton } from "../ui/CopyButton";
import { Fold } from "../ui/Fold";
import { visible } from "../ui/sanitize";
import styles from "./BrokenMessage.module.css";

/** Replaces a message that failed to render: the error and the message as JSON. */
export function BrokenMessage({ message, error }: { message: Message; error: unknown }) {
  const json = () => stringify(message, 2) || "(nested too deeply to be written as JSON)";
  return (
    <article className={styles.broken} aria-label="Message that cannot be displayed">
      <p className={styles.title}>
        <TriangleAlert size={14} aria-hidden />
        This message cannot be displayed
      </p>
      <p className={styles.error}>{visible(error instanceof Error ? error.message : String(error))}</p>
      <Fold head="Raw JSON" aside={<CopyButton label="Copy JSON" text={json} />}>
        <Json text={json} />
      </Fold>
    </article>
  );
}

/** Serialized only when the fold is open. */
function Json({ text }: { text: () => string }) {
  const bodies = useBodies(true);
  return bodies && <bodies.LongText text={text()} label="Raw JSON" />;
}
