import { Check } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import styles from "./Menu.module.css";

export interface Choice {
  readonly label: ReactNode;
  readonly run: () => void;
  readonly icon?: ReactNode;
  /** How many, where that is known. */
  readonly count?: string;
  /** Whether it is the one that is chosen; of choices that exclude each other. */
  readonly chosen?: boolean;
  readonly bad?: boolean;
}

interface Props {
  readonly label: string;
  readonly choices: readonly Choice[];
  /** What was pressed to open it: it stands beside, and the focus goes back there. */
  readonly at: HTMLElement;
  readonly onClose: () => void;
}

const EDGE = 8;

/** A few things to choose from, above everything, beside what opened it. */
export function Menu({ label, choices, at, onClose }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: -9999, top: 0, maxHeight: 0 });
  useLayoutEffect(() => {
    const box = at.getBoundingClientRect();
    const own = menu.current?.getBoundingClientRect();
    const width = own?.width ?? 0;
    const below = window.innerHeight - box.bottom - EDGE;
    const above = box.top - EDGE;
    const needed = menu.current?.scrollHeight ?? 0;
    const isBelow = needed <= below || below >= above;
    const maxHeight = Math.max(120, Math.min(420, isBelow ? below : above));
    setPlace({
      left: Math.max(EDGE, Math.min(box.left, window.innerWidth - width - EDGE)),
      top: isBelow ? box.bottom + 2 : Math.max(EDGE, box.top - Math.min(needed + 10, maxHeight) - 2),
      maxHeight,
    });
  }, [at]);
  useEffect(() => {
    const items = itemsOf(menu.current);
    (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
    const outside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node) && !at.contains(event.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [at, onClose]);

  const close = () => {
    onClose();
    at.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const items = itemsOf(menu.current);
    const now = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1 + items.length, Home: 0, End: items.length - 1 }[
      event.key
    ];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (to !== undefined) items[to % items.length]?.focus();
    else if (event.key.length === 1 && event.key !== " ") find(items, now, event.key)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={menu}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      className={styles.menu}
      style={place}
      onKeyDown={onKeyDown}
    >
      {choices.map((choice, index) => (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: only a menuitemradio has it
        <button
          key={index}
          type="button"
          role={choice.chosen === undefined ? "menuitem" : "menuitemradio"}
          aria-checked={choice.chosen}
          tabIndex={-1}
          className={choice.bad ? `${styles.item} ${styles.bad}` : styles.item}
          onClick={() => {
            close();
            choice.run();
          }}
        >
          <span className={styles.icon} aria-hidden>
            {choice.chosen ? <Check size={14} /> : choice.icon}
          </span>
          <span className={styles.label}>{choice.label}</span>
          {choice.count !== undefined && <span className={styles.count}>{choice.count}</span>}
        </button>
      ))}
    </div>
  );
}

const itemsOf = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? []),
];

/** The next choice that begins with a letter. */
function find(items: readonly HTMLElement[], now: number, letter: string): HTMLElement | undefined {
  const after = [...items.slice(now + 1), ...items.slice(0, now + 1)];
  return after.find((item) =>
    item.textContent?.trim().toLocaleLowerCase().startsWith(letter.toLocaleLowerCase()),
  );
}
