import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./Button";
import styles from "./Dialog.module.css";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
  /** A non-modal panel at the right. */
  readonly side?: boolean;
}

/** A dialog. Escape closes it. */
export function Dialog({ title, onClose, children, wide, side }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (!element || element.open) return;
    if (side) element.show();
    else element.showModal();
    return () => element.close();
  }, [side]);
  const names = [styles.dialog, wide && styles.wide, side && styles.side].filter(Boolean).join(" ");
  return (
    <dialog
      ref={dialog}
      className={names}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <header className={styles.head}>
        <h2 id={id}>{title}</h2>
        <IconButton label="Close" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className={styles.body}>{children}</div>
    </dialog>
  );
}
