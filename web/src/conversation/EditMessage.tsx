import { useState } from "react";
import type { Live } from "../chat/live";
import type { TextPart, UserMessage } from "../partita.gen";
import { Button } from "../ui/Button";
import { isComposing } from "../ui/commands";
import { toastError } from "../ui/Toasts";
import styles from "./EditMessage.module.css";

interface Props {
  readonly message: UserMessage;
  readonly live: Pick<Live, "edit" | "busy">;
  readonly onClose: (isSent: boolean) => void;
}

const textOf = (parts: UserMessage["content"]["parts"]): string =>
  parts.flatMap((part) => (part.type === "text" ? (part as TextPart).text : [])).join("\n\n");

/**
 * Edits a question. The original and what followed it stay on their own branch. Enter sends, Shift+Enter starts a new
 * line, Escape cancels.
 */
export function EditMessage({ message, live, onClose }: Props) {
  const [text, setText] = useState(() => textOf(message.content.parts));
  const canSend = !live.busy && text.trim() !== "";
  const send = () => {
    if (!canSend) return;
    onClose(true);
    live.edit(message, text.trim()).catch(toastError);
  };
  return (
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === "Escape") onClose(false);
        else if (event.key === "Enter" && !event.shiftKey && event.target instanceof HTMLTextAreaElement)
          send();
        else return;
        event.preventDefault();
      }}
    >
      <textarea
        aria-label="Message text"
        // biome-ignore lint/a11y/noAutofocus: the user opened it to write
        autoFocus
        rows={Math.min(12, text.split("\n").length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.buttons}>
        <Button onClick={() => onClose(false)}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={!canSend}>
          Ask again
        </Button>
      </div>
    </form>
  );
}
