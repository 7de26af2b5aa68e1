import { type FormEvent, useId, useState } from "react";
import { setNote } from "../api/threads";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { toastError } from "../ui/Toasts";
import styles from "./Dialogs.module.css";

interface Props {
  readonly id: string;
  readonly note: string | null | undefined;
  /** Called with the new note before it is stored. */
  readonly onChange?: (note: string | null) => void;
  readonly onClose: () => void;
}

/** The user's note about a session. */
export function NoteDialog({ id, note, onChange, onClose }: Props) {
  const [text, setText] = useState(note ?? "");
  const field = useId();
  const save = () => {
    const next = text.trim() || null;
    if (next !== (note ?? null)) {
      onChange?.(next);
      setNote(id, next).catch(toastError);
    }
    onClose();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  return (
    <Dialog title="Note" onClose={onClose}>
      <form onSubmit={onSubmit}>
        <label className="visually-hidden" htmlFor={field}>
          Note
        </label>
        <textarea
          id={field}
          className={styles.area}
          rows={5}
          value={text}
          placeholder="What you want to remember about this session"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            save();
          }}
        />
        <div className={styles.foot}>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
