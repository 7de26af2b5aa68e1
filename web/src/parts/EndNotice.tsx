import { CircleAlert, CircleStop, Unplug } from "lucide-react";
import type { Message } from "../partita.gen";
import { visible } from "../ui/sanitize";
import styles from "./EndNotice.module.css";

interface End {
  readonly status?: unknown;
  readonly reason?: unknown;
}

const KINDS = {
  failed: { label: "Failed", Icon: CircleAlert },
  cancelled: { label: "Stopped", Icon: CircleStop },
  interrupted: { label: "Interrupted", Icon: Unplug },
} as const;

/** How the run of a message ended, unless it completed. */
export function EndNotice({ message }: { message: Message }) {
  const end = (message.content.metadata as { ended?: End | null } | null | undefined)?.ended;
  const status = end?.status;
  if (typeof status !== "string" || !Object.hasOwn(KINDS, status)) return null;
  const { label, Icon } = KINDS[status as keyof typeof KINDS];
  return (
    <p className={styles.ending} data-status={status}>
      <Icon size={14} aria-hidden className={styles.icon} />
      <span>
        {label}
        {typeof end?.reason === "string" && end.reason !== "" && `: ${visible(end.reason)}`}
      </span>
    </p>
  );
}
