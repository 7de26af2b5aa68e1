import { CircleAlert, CircleStop, Play, RefreshCw, Unplug } from "lucide-react";
import { useRenderContext } from "../context/renderContext";
import type { Message } from "../partita.gen";
import { Button } from "../ui/Button";
import { visible } from "../ui/sanitize";
import styles from "./EndNotice.module.css";
import { endOf } from "./end";

const KINDS = {
  failed: { label: "Failed", Icon: CircleAlert },
  cancelled: { label: "Stopped", Icon: CircleStop },
  interrupted: { label: "Interrupted", Icon: Unplug },
} as const;

/** How the run of a message ended, unless it completed, with the buttons to try again. */
export function EndNotice({ message }: { message: Message }) {
  const { endActions } = useRenderContext();
  const end = endOf(message);
  if (!end) return null;
  const { label, Icon } = KINDS[end.status];
  const actions = endActions?.(message);
  return (
    <div className={styles.ending} data-status={end.status}>
      <p className={styles.text}>
        <Icon size={14} aria-hidden className={styles.icon} />
        <span>
          {label}
          {end.reason && `: ${visible(end.reason)}`}
          {actions?.hint && <span className={styles.hint}>{actions.hint}</span>}
        </span>
      </p>
      {actions && (
        <div className={styles.buttons}>
          <Button small icon={<RefreshCw size={13} aria-hidden />} onClick={actions.retry}>
            Retry
          </Button>
          {actions.resume && (
            <Button small icon={<Play size={13} aria-hidden />} onClick={actions.resume}>
              Continue
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
