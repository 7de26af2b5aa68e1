import { X } from "lucide-react";
import { type PointerEvent, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { IconButton } from "./Button";
import { useCommands } from "./commands";
import styles from "./Dialog.module.css";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
  /** A non-modal panel at the right. */
  readonly side?: boolean;
  /** Near the top, without a header: the title is only its name. A click beside it closes it. */
  readonly bare?: boolean;
}

/** A dialog. Escape closes it. It focuses its first field, and returns the focus when it closes. */
export function Dialog({ title, onClose, children, wide, side, bare }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element || element.open) return;
    const before = document.activeElement;
    if (side) element.show();
    else element.showModal();
    if (body.current) {
      const field = firstField(body.current);
      if (field === body.current) field.tabIndex = 0; // to scroll it by keys, also after the focus was elsewhere
      field.focus();
    }
    return () => {
      const isInside = element.contains(document.activeElement) || document.activeElement === document.body;
      element.close();
      if (!isInside || !(before instanceof HTMLElement)) return;
      before.blur(); // Chromium returns the focus, but not the caret: typing would have no effect
      before.focus({ preventScroll: true });
    };
  }, [side]);
  useCommands([{ keys: "Escape", what: "Close the panel", group: "Page", run: onClose }], side);
  const names = [styles.dialog, wide && styles.wide, side && styles.side, bare && styles.bare];
  const closeBeside = (event: PointerEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog
      ref={dialog}
      className={names.filter(Boolean).join(" ")}
      aria-labelledby={id}
      onPointerDown={bare ? closeBeside : undefined}
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
      {bare ? (
        <h2 id={id} className="visually-hidden">
          {title}
        </h2>
      ) : (
        <div className={styles.head}>
          <h2 id={id}>{title}</h2>
          <IconButton label="Close" onClick={onClose}>
            <X size={16} />
          </IconButton>
        </div>
      )}
      <div ref={body} className={styles.body} tabIndex={-1}>
        {children}
      </div>
    </dialog>
  );
}

/** What gets the focus: the first field, the primary button, or the content, to scroll it by keys. */
function firstField(body: HTMLElement): HTMLElement {
  const find = (selector: string) => body.querySelector<HTMLElement>(`:is(${selector}):not(:disabled)`);
  return (
    find("[autofocus], input:not([type=radio]), input:checked, textarea, select") ??
    find("[data-kind=primary]") ??
    body
  );
}
