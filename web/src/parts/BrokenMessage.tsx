import { TriangleAlert } from "lucide-react";
import type { Message } from "../partita.gen";
import { written } from "../tools/json";
import { LongText } from "../tools/LongText";
import { CopyButton } from "../ui/CopyButton";
import { Fold } from "../ui/Fold";
import { visible } from "../ui/hostile";
import styles from "./BrokenMessage.module.css";

/** Shown in place of a message that cannot be drawn: the error, and the message as JSON. */
export function BrokenMessage({ message, error }: { message: Message; error: unknown }) {
  const json = () => written(message, 2) || "(nested too deeply to be written as JSON)";
  return (
    <article className={styles.broken} aria-label="Message that cannot be displayed">
      <p className={styles.title}>
        <TriangleAlert size={14} aria-hidden />
        This message cannot be displayed
      </p>
      <p className={styles.error}>{visible(error instanceof Error ? error.message : String(error))}</p>
      <Fold head="Raw JSON" aside={<CopyButton label="Copy the JSON" text={json} />}>
        <Json text={json} />
      </Fold>
    </article>
  );
}

/** Written only when the fold is open. */
const Json = ({ text }: { text: () => string }) => <LongText text={text()} label="Raw JSON" />;
