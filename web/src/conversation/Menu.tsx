import { EllipsisVertical } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { IconButton } from "../ui/Button";
import styles from "./Menu.module.css";

export interface MenuItem {
  readonly label: string;
  readonly icon: ReactNode;
  readonly run: () => void;
  readonly disabled?: boolean;
  /** On or off, for what can be. */
  readonly checked?: boolean;
}

/** A button with a list of things to do. */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    buttons(frame.current)[0]?.focus();
    const close = (event: Event) => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [open]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      setOpen(false);
      frame.current?.querySelector("button")?.focus();
      if (event.key === "Escape") event.stopPropagation();
    } else if (by) {
      event.preventDefault();
      const all = buttons(frame.current);
      const here = all.indexOf(document.activeElement as HTMLButtonElement);
      all[(here + by + all.length) % all.length]?.focus();
    }
  };
  return (
    <div ref={frame} className={styles.frame}>
      <IconButton
        label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen((was) => !was)}
      >
        <EllipsisVertical size={17} />
      </IconButton>
      {open && (
        <div
          id={id}
          role="menu"
          aria-label={label}
          className={styles.menu}
          tabIndex={-1}
          onKeyDown={onKeyDown}
        >
          {items.map((item) => (
            // biome-ignore lint/a11y/useAriaPropsSupportedByRole: what can be checked has the role for it
            <button
              key={item.label}
              type="button"
              role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"}
              aria-checked={item.checked}
              disabled={item.disabled}
              onClick={() => {
                setOpen(false);
                frame.current?.querySelector("button")?.focus();
                item.run();
              }}
            >
              {item.icon}
              <span>{item.label}</span>
              {item.checked && <span aria-hidden>✓</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

const buttons = (frame: HTMLElement | null): HTMLButtonElement[] => [
  ...(frame?.querySelectorAll<HTMLButtonElement>("[role^=menuitem]:not(:disabled)") ?? []),
];
