import { CaseSensitive, ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import { isSearchable } from "../api/search";
import { IconButton } from "../ui/Button";
import { count } from "../ui/format";
import styles from "./FindBar.module.css";
import type { FindState } from "./useFind";

/** The bar above the messages that finds words in them. */
export function FindBar({ find }: { find: FindState }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const before = useRef<Element | null>(null);
  // Opened with the keyboard or the menu: the field takes the focus, and closing gives it back.
  useEffect(() => {
    if (!find.asked) return;
    if (document.activeElement !== field.current) before.current = document.activeElement;
    field.current?.focus();
    field.current?.select();
  }, [find.asked]);
  const close = () => {
    const target = before.current?.isConnected ? before.current : null;
    find.close();
    if (target instanceof HTMLElement && target !== document.body) target.focus({ preventScroll: true });
    else document.querySelector<HTMLElement>("section[aria-label=Messages]")?.focus({ preventScroll: true });
  };
  return (
    <search
      className={styles.bar}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          find.step(1);
        }}
      >
        <label htmlFor={id} className="visually-hidden">
          Find in this session
        </label>
        <input
          ref={field}
          id={id}
          className={styles.field}
          value={find.text}
          placeholder="Find in this session"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => find.setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
            event.preventDefault();
            find.step(event.shiftKey ? -1 : 1);
          }}
        />
        <span className={styles.count} role="status">
          {statusOf(find)}
        </span>
        <IconButton
          label="Match case"
          pressed={find.matchCase}
          onClick={() => find.setMatchCase(!find.matchCase)}
        >
          <CaseSensitive size={17} />
        </IconButton>
        <IconButton label="Previous match" disabled={!find.total} onClick={() => find.step(-1)}>
          <ChevronUp size={17} />
        </IconButton>
        <IconButton label="Next match" disabled={!find.total} onClick={() => find.step(1)}>
          <ChevronDown size={17} />
        </IconButton>
        <IconButton label="Close find" onClick={close}>
          <X size={16} />
        </IconButton>
      </form>
    </search>
  );
}

/** "3 of 12"; "3 of 2,000+" if older messages match, too. */
function statusOf(find: FindState): string {
  if (!isSearchable(find.text)) return "";
  if (find.error) return find.error instanceof Error ? find.error.message : String(find.error);
  if (!find.isReady) return "";
  if (!find.total) return "No results";
  return `${count(find.number)} of ${count(find.total)}${find.hasMore ? "+" : ""}`;
}
