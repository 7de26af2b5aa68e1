import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { isComposing } from "../ui/commands";
import styles from "./ThreadRow.module.css";

/** An input to rename a thread. Enter saves, Escape cancels. */
export function NameField({ name, onDone }: { name: string; onDone: (title: string | null) => void }) {
  const [text, setText] = useState(name);
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false); // unmounting blurs the field, too
  useEffect(() => field.current?.select(), []);
  const done = (title: string | null) => {
    if (!isDone.current) onDone(title);
    isDone.current = true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    event.stopPropagation(); // arrow keys and Ctrl-A belong to the field
    if (event.key === "Enter") done(text.trim());
    else if (event.key === "Escape") done(null);
    else return;
    event.preventDefault();
  };
  return (
    <input
      ref={field}
      className={styles.field}
      aria-label="New name"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => done(text.trim())}
    />
  );
}
