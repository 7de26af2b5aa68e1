import { Check, Play, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { Button } from "../ui/Button";
import { toastError } from "../ui/Toasts";
import type { Replying } from "../viewing/viewing";
import styles from "./Approval.module.css";

export const DECLINED = "The user declined.";

/** A call that waits for this side: it is run here or its output is written, or it is declined. */
export function ClientCall({ replying: { run, give, decline } }: { replying: Replying }) {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const id = useId();
  const send = async (reply: () => Promise<void>) => {
    setSending(true);
    try {
      await reply();
    } catch (error) {
      toastError(error);
    } finally {
      setSending(false);
    }
  };
  const answer = (event: FormEvent) => {
    event.preventDefault();
    void send(run ?? (() => give(valueIn(text))));
  };
  return (
    <form className={styles.form} onSubmit={answer}>
      <label className={styles.reason} htmlFor={id}>
        {run ? "Reason, if you decline (optional)" : "Output, as JSON or plain text; or a reason to decline"}
        <input
          id={id}
          className={styles.field}
          value={text}
          disabled={isSending}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {run ? (
        <Button kind="primary" type="submit" icon={<Play size={14} aria-hidden />} disabled={isSending}>
          Run here
        </Button>
      ) : (
        <Button
          kind="primary"
          type="submit"
          icon={<Check size={14} aria-hidden />}
          disabled={isSending || !text.trim()}
        >
          Give output
        </Button>
      )}
      <Button
        kind="danger"
        icon={<X size={14} aria-hidden />}
        disabled={isSending}
        onClick={() => void send(() => decline(text.trim() || DECLINED))}
      >
        Decline
      </Button>
    </form>
  );
}

/** What somebody wrote: the value, if it is JSON, else the words. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
