import { Check, Play, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import type { ClientCallActions } from "../context/renderContext";
import { Button } from "../ui/Button";
import { toastError } from "../ui/Toasts";
import styles from "./Approval.module.css";
import { parseJson } from "./json";

const DECLINED = "The user declined.";

/** The form for a pending client-side call: run the tool, enter its output, or decline. */
export function ClientCall({ actions: { run, submit, decline } }: { actions: ClientCallActions }) {
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
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const value = parseJson(text);
    void send(run ?? (() => submit(value === undefined ? text : value)));
  };
  return (
    <form className={styles.form} data-reply onSubmit={onSubmit}>
      <label className={styles.reason} htmlFor={id}>
        {run ? "Reason to decline (optional)" : "Output as JSON or plain text, or a reason to decline"}
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
          Send output
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
