import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { EntryLine, TurnLine } from "./lines";
import { currentIndex, type Item, type TurnNode } from "./model";
import styles from "./Outline.module.css";

interface Props {
  readonly items: readonly Item[];
  /** The number of turns. */
  readonly total: number;
  readonly currentRow: number;
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
  readonly onToggle: (messageId: string) => void;
  readonly onTimeline?: (node: TurnNode) => void;
}

const TURN_HEIGHT = 62;
const ENTRY_HEIGHT = 28;

/** A virtual tree of turns. One line is in the tab order; the arrow keys move through the others. */
export function OutlineList({ items, total, currentRow, folder, onShow, onToggle, onTimeline }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const isFocusWanted = useRef(false);
  const current = currentIndex(items, currentRow);
  const chosen = active === null ? -1 : items.findIndex(({ key }) => key === active);
  const activeIndex = chosen < 0 ? Math.max(0, current) : chosen;
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback(
      (index: number) => (items[index]?.type === "turn" ? TURN_HEIGHT : ENTRY_HEIGHT),
      [items],
    ),
    getItemKey: useCallback((index: number) => items[index]?.key ?? index, [items]),
    overscan: 6,
    paddingStart: 4,
    paddingEnd: 12,
    scrollPaddingStart: 48,
    scrollPaddingEnd: 48,
    initialRect: { width: 280, height: 700 },
    // The line with the focus stays in the document.
    rangeExtractor: useCallback(
      (range: Range) => {
        const shown = defaultRangeExtractor(range);
        if (shown.includes(activeIndex)) return shown;
        return [...shown, activeIndex].sort((a, b) => a - b);
      },
      [activeIndex],
    ),
  });

  // The current place stays in view, unless the user is looking around in the outline.
  useEffect(() => {
    const element = scroller.current;
    if (current < 0 || !element || element.matches(":hover, :has(:focus-visible)")) return;
    list.scrollToIndex(current, { align: "auto" });
  }, [list, current]);

  useEffect(() => {
    if (!isFocusWanted.current) return;
    isFocusWanted.current = false;
    list.scrollToIndex(activeIndex, { align: "auto" });
    scroller.current
      ?.querySelector<HTMLElement>(`[data-index="${activeIndex}"] [role=treeitem]`)
      ?.focus({ preventScroll: true });
  });

  const focus = (index: number) => {
    const item = items[Math.max(0, Math.min(index, items.length - 1))];
    if (!item) return;
    isFocusWanted.current = true;
    setActive(item.key);
  };
  const show = (item: Item) => {
    setActive(item.key);
    if (item.type === "turn") onShow(item.node.turn.messageId, null);
    else onShow(item.entry.messageId, item.entry.part);
  };
  const toggle = (item: Item) => {
    setActive(item.key);
    if (item.type === "turn") onToggle(item.node.turn.messageId);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const item = items[activeIndex];
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const isOpen = item.type === "turn" ? item.isOpen : null;
    const isItem = (event.target as Element).matches("[role=treeitem]");
    const actions: Record<string, (() => void) | undefined> = {
      ArrowDown: () => focus(activeIndex + 1),
      ArrowUp: () => focus(activeIndex - 1),
      Home: () => focus(0),
      End: () => focus(items.length - 1),
      ArrowRight: () => (isOpen === false ? toggle(item) : isOpen && focus(activeIndex + 1)),
      ArrowLeft: () => {
        if (isOpen) toggle(item);
        else if (item.type === "entry") focus(items.findIndex(({ key }) => key === item.node.turn.messageId));
      },
      Enter: isItem ? () => show(item) : undefined,
      " ": isItem ? () => show(item) : undefined,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  return (
    <div ref={scroller} className={styles.list}>
      <div role="tree" aria-label="Outline" style={{ height: list.getTotalSize() }} className={styles.sizer}>
        {list.getVirtualItems().map(({ index, start }) => {
          const item = items[index];
          if (!item) return null;
          const line = {
            isCurrent: index === current,
            isActive: index === activeIndex,
            onShow: () => show(item),
            onKeyDown,
          };
          return (
            <div
              key={item.key}
              ref={list.measureElement}
              data-index={index}
              role="none"
              className={styles.place}
              style={{ top: start }}
            >
              {item.type === "turn" ? (
                <TurnLine
                  {...line}
                  node={item.node}
                  isOpen={item.isOpen}
                  total={total}
                  onToggle={() => toggle(item)}
                  onTimeline={onTimeline && (() => onTimeline(item.node))}
                />
              ) : (
                <EntryLine {...line} entry={item.entry} folder={folder} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
