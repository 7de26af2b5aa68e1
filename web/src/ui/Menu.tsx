import { Check, EllipsisVertical } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { IconButton } from "./Button";
import styles from "./Menu.module.css";
import { EXTERNAL_LINK } from "./sanitize";

export interface MenuItem {
  readonly label: ReactNode;
  /** A second line. */
  readonly description?: ReactNode;
  readonly run?: () => void;
  /** A link instead of `run`. */
  readonly href?: string;
  readonly icon?: ReactNode;
  /** A number or a key anchor the right. */
  readonly count?: string;
  /** The state of an item of a radio group. */
  readonly chosen?: boolean;
  /** The state of an item that is a switch. */
  readonly checked?: boolean;
  readonly disabled?: boolean;
  readonly bad?: boolean;
}

interface Props {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** The element that opened the menu. The menu is placed beside it and returns the focus to it. */
  readonly anchor: HTMLElement;
  /** For long items. */
  readonly wide?: boolean;
  readonly onClose: () => void;
}

/** Pixels between the menu and the edges of the window. */
const MARGIN = 8;

/** A popup menu beside an element. */
export function Menu({ label, items, anchor, wide, onClose }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: -9999, top: 0, maxHeight: 0 });
  useLayoutEffect(() => {
    const box = anchor.getBoundingClientRect();
    const own = menu.current?.getBoundingClientRect();
    const width = own?.width ?? 0;
    const below = window.innerHeight - box.bottom - MARGIN;
    const above = box.top - MARGIN;
    const needed = menu.current?.scrollHeight ?? 0;
    const isBelow = needed <= below || below >= above;
    const maxHeight = Math.max(120, Math.min(420, isBelow ? below : above));
    setPlace({
      left: Math.max(MARGIN, Math.min(box.left, window.innerWidth - width - MARGIN)),
      top: isBelow ? box.bottom + 2 : Math.max(MARGIN, box.top - Math.min(needed + 10, maxHeight) - 2),
      maxHeight,
    });
  }, [anchor]);
  useEffect(() => {
    const elements = itemsOf(menu.current);
    (
      elements.find((item) => item.ariaChecked === "true" && item.role === "menuitemradio") ?? elements[0]
    )?.focus();
    const outside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node) && !anchor.contains(event.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [anchor, onClose]);

  const close = () => {
    onClose();
    anchor.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const elements = itemsOf(menu.current);
    const now = elements.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1 + elements.length, Home: 0, End: elements.length - 1 }[
      event.key
    ];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (to !== undefined) elements[to % elements.length]?.focus();
    else if (event.key.length === 1 && event.key !== " ") find(elements, now, event.key)?.focus();
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
      className={wide ? `${styles.menu} ${styles.wide}` : styles.menu}
      style={place}
      onKeyDown={onKeyDown}
    >
      {items.map((item, index) => (
        <Item key={index} item={item} close={close} />
      ))}
    </div>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const content = (
    <>
      <span className={styles.icon} aria-hidden>
        {item.chosen ? <Check size={14} /> : item.icon}
      </span>
      <span className={styles.text}>
        <span className={styles.label}>{item.label}</span>
        {item.description !== undefined && <span className={styles.description}>{item.description}</span>}
      </span>
      {item.count !== undefined && <span className={styles.count}>{item.count}</span>}
      {item.checked && <Check size={14} aria-hidden />}
    </>
  );
  const className = item.bad ? `${styles.item} ${styles.bad}` : styles.item;
  if (item.href !== undefined && !item.disabled) {
    const web = /^https?:/.test(item.href) ? EXTERNAL_LINK : {};
    return (
      <a role="menuitem" href={item.href} tabIndex={-1} className={className} onClick={close} {...web}>
        {content}
      </a>
    );
  }
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: plain items have no checked state
    <button
      type="button"
      role={roleOf(item)}
      aria-checked={item.chosen ?? item.checked}
      disabled={item.disabled}
      tabIndex={-1}
      className={className}
      onClick={() => {
        close();
        item.run?.();
      }}
    >
      {content}
    </button>
  );
}

const itemsOf = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)") ?? []),
];

const roleOf = ({ chosen, checked }: MenuItem): string =>
  chosen !== undefined ? "menuitemradio" : checked !== undefined ? "menuitemcheckbox" : "menuitem";

interface ButtonProps extends Pick<Props, "label" | "items" | "wide"> {
  /** The content of the button; by default three dots. It contains the label. */
  readonly children?: ReactNode;
  readonly className?: string;
}

/** A button that opens a menu. */
export function MenuButton({ label, items, wide, children, className }: ButtonProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const close = useCallback(() => setAnchor(null), []);
  const rest = {
    "aria-haspopup": "menu" as const,
    "aria-expanded": anchor !== null,
    onClick: ({ currentTarget }: { readonly currentTarget: HTMLElement }) =>
      setAnchor((was) => (was ? null : currentTarget)),
  };
  return (
    <>
      {children === undefined ? (
        <IconButton label={label} className={className} {...rest}>
          <EllipsisVertical size={17} />
        </IconButton>
      ) : (
        <button type="button" className={className} title={label} {...rest}>
          {children}
        </button>
      )}
      {anchor && <Menu label={label} items={items} anchor={anchor} wide={wide} onClose={close} />}
    </>
  );
}

/** The next item that starts with a letter. */
function find(items: readonly HTMLElement[], now: number, letter: string): HTMLElement | undefined {
  const after = [...items.slice(now + 1), ...items.slice(0, now + 1)];
  return after.find((item) =>
    item.textContent?.trim().toLocaleLowerCase().startsWith(letter.toLocaleLowerCase()),
  );
}
