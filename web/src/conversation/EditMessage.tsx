import { useState } from "react";
import type { Live } from "../chat/live";
import type { TextPart, UserMessage } from "../partita.gen";
import { Button } from "../ui/Button";
import { toastError } from "../ui/Toasts";
import styles from "./EditMessage.module.css";

interface Props {
  readonly message: UserMessage;
  readonly live: Pick<Live, "edit" | "busy">;
  readonly onClose: () => void;
}

const textOf = (parts: UserMessage["content"]["parts"]): string =>
  parts.flatMap((part) => (part.type === "text" ? (part as TextPart).text : [])).join("\n\n");

/** Edits a question. The original and what followed it stay on their own branch. */
export function EditMessage({ message, live, onClose }: Props) {
  const [text, setText] = useState(() => textOf(message.content.parts));
  const send = () => {
    onClose();
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
        if (event.key === "Escape") onClose();
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
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={live.busy || !text.trim()}>
          Ask again
        </Button>
      </div>
    </form>
  );
}
