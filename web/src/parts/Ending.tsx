import { CircleAlert, CircleStop, Unplug } from "lucide-react";
import type { Message } from "../partita.gen";
import { visible } from "../ui/hostile";
import styles from "./Ending.module.css";

interface Ended {
  readonly status?: unknown;
  readonly reason?: unknown;
}

const KINDS = {
  failed: { words: "Failed", Sign: CircleAlert },
  cancelled: { words: "Stopped", Sign: CircleStop },
  interrupted: { words: "Interrupted", Sign: Unplug },
} as const;

/** How the run of a message ended, unless it ended well. */
export function Ending({ message }: { message: Message }) {
  const said = (message.content.metadata as { ended?: Ended | null } | null | undefined)?.ended;
  const status = said?.status;
  if (typeof status !== "string" || !Object.hasOwn(KINDS, status)) return null;
  const { words, Sign } = KINDS[status as keyof typeof KINDS];
  return (
    <p className={styles.ending} data-status={status}>
      <Sign size={14} aria-hidden className={styles.sign} />
      <span>
        {words}
        {typeof said?.reason === "string" && said.reason !== "" && `: ${visible(said.reason)}`}
      </span>
    </p>
  );
}
