import { Check, X } from "lucide-react";
import { useId, useState } from "react";
import { useRenderContext } from "../context/renderContext";
import type { ToolCallPart } from "../partita.gen";
import { Button } from "../ui/Button";
import { toastError } from "../ui/Toasts";
import styles from "./Approval.module.css";

/** The form to approve or deny a call, with an optional reason. */
export function Approval({ call }: { call: ToolCallPart }) {
  const { respondToApproval } = useRenderContext();
  const [reason, setReason] = useState("");
  const [isSending, setSending] = useState(false);
  const id = useId();
  if (!respondToApproval) return null;
  const send = async (approved: boolean) => {
    setSending(true);
    try {
      await respondToApproval(call, { approved, ...(reason.trim() ? { reason: reason.trim() } : {}) });
    } catch (error) {
      toastError(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      className={styles.form}
      data-reply
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
    >
      <label className={styles.reason} htmlFor={id}>
        Reason (optional)
        <input
          id={id}
          className={styles.field}
          value={reason}
          maxLength={2000}
          disabled={isSending}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <Button kind="primary" type="submit" icon={<Check size={14} aria-hidden />} disabled={isSending}>
        Approve
      </Button>
      <Button
        kind="danger"
        icon={<X size={14} aria-hidden />}
        disabled={isSending}
        onClick={() => void send(false)}
      >
        Deny
      </Button>
    </form>
  );
}
