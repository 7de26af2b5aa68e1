import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Outline } from "../api/messages";
import type { Message } from "../partita.gen";
import { Button } from "../ui/Button";
import { useEnd, useKeepEnd } from "../ui/useEnd";
import type { Viewing } from "../viewing/viewing";
import type { MessageCache } from "./cache";
import type { Actions } from "./MessageActions";
import styles from "./MessageList.module.css";
import { MessageRow } from "./MessageRow";
import { type Row, step } from "./rows";
import { ROOM_ABOVE, useArrival } from "./useArrival";
import { usePace } from "./usePace";

/** What can be asked of the list from outside. */
export interface ListControl {
  /** Go to a message, or to a part of it, and let it shine for a moment. */
  readonly show: (messageId: string, part?: string | null) => void;
  readonly step: (by: 1 | -1, holds?: (row: Row) => boolean) => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
}

interface Props {
  readonly rows: readonly Row[];
  readonly outline: Outline;
  readonly cache: MessageCache;
  readonly live: ReadonlyMap<string, Message>;
  readonly target: { readonly message: string; readonly part: string | null } | null;
  readonly selected: string | null;
  readonly onSelect: (messageId: string) => void;
  readonly actions: Actions;
  readonly editing: string | null;
  readonly editor: ReactNode;
  readonly viewing: Viewing;
  /** The message that is being written, and how it is drawn. */
  readonly writing: string | null;
  readonly writingView: Viewing;
  readonly control: Ref<ListControl>;
}

const NEAR_END = 120;
const ASK_EVERY = 80;

/** The messages, of which only those that are seen are drawn. */
export function MessageList(props: Props) {
  const { rows, outline, cache, live, target, selected, onSelect } = props;
  const scroller = useRef<HTMLElement>(null);
  useSyncExternalStore(cache.subscribe, cache.version);
  const [first] = useState(() => firstOffset(rows, target?.message ?? null));
  // The same functions while the rows are the same: others make the list count all rows anew.
  const estimateSize = useCallback((index: number) => rows[index]?.estimate ?? 60, [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const end = useEnd(target === null);
  const list = useVirtualizer<HTMLElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 24,
    scrollPaddingStart: ROOM_ABOVE,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    initialOffset: first,
    scrollToFn: end.scrollTo,
    initialRect: { width: 800, height: 800 },
  });
  useKeepEnd(end, list, scroller);
  const arrival = useArrival(list, rows, scroller, target, end.leave);
  const items = list.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  useWanted(cache, outline, from, to, list.isScrolling);

  const coming = items.flatMap(({ index }) => {
    const id = rows[index]?.id;
    return id !== undefined && !live.has(id) && cache.get(id) ? [id] : [];
  });
  const late = usePace(coming, list.isScrolling);

  const choose = (index: number) => {
    const row = rows[index];
    if (!row) return;
    onSelect(row.id);
    arrival.show(row.id, null, false);
  };
  useImperativeHandle(props.control, () => ({
    show: (messageId, part) => arrival.show(messageId, part ?? null, true),
    step: (by, holds) => {
      const here = rows.findIndex((row) => row.id === selected);
      choose(step(rows, here < 0 ? topIndex(list, by) : here, by, holds));
    },
    toStart: () => choose(0),
    toEnd: () => {
      const last = rows.at(-1);
      if (last) onSelect(last.id);
      list.scrollToEnd();
    },
  }));

  const isAtEnd = list.isAtEnd(NEAR_END);
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label="Messages" tabIndex={0}>
        <div className={styles.sizer} style={{ height: list.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <MessageRow
                key={row.id}
                message={live.get(row.id) ?? (late.has(row.id) ? undefined : cache.get(row.id))}
                viewing={row.id === props.writing ? props.writingView : props.viewing}
                id={row.id}
                index={item.index}
                start={item.start}
                height={item.size}
                siblings={outline.siblings[row.id]}
                selected={row.id === selected}
                highlighted={row.id === arrival.shining}
                isLive={live.has(row.id)}
                editor={row.id === props.editing ? props.editor : null}
                actions={props.actions}
                measure={list.measureElement}
              />
            );
          })}
        </div>
      </section>
      {!isAtEnd && rows.length > 0 && (
        <div className={styles.newer}>
          <Button small icon={<ArrowDown size={14} />} onClick={() => list.scrollToEnd()}>
            Newer
          </Button>
        </div>
      )}
    </div>
  );
}

type List = ReturnType<typeof useVirtualizer<HTMLElement, HTMLElement>>;

/** About where the list opens: at a message, or at its end. */
function firstOffset(rows: readonly Row[], target: string | null): number {
  const index = target === null ? -1 : rows.findIndex((row) => row.id === target);
  const before = index < 0 ? rows : rows.slice(0, index);
  return before.reduce((sum, row) => sum + row.estimate, 0);
}

/** Where a walk begins when nothing is chosen: at what is seen first. */
function topIndex(list: List, by: 1 | -1): number {
  const offset = list.scrollOffset ?? 0;
  const top = list.getVirtualItemForOffset(offset + 1)?.index ?? 0;
  return by > 0 ? top - 1 : top + 1;
}

/** Asks for what is seen: at once when the list rests, now and then while it runs. */
function useWanted(
  cache: MessageCache,
  outline: Outline,
  from: number,
  to: number,
  isScrolling: boolean,
): void {
  const last = useRef(0);
  useEffect(() => {
    const ask = () => {
      last.current = Date.now();
      cache.want(outline.rows, from, to);
    };
    const wait = isScrolling ? Math.max(0, last.current + ASK_EVERY - Date.now()) : 0;
    if (!wait) return ask();
    const timer = setTimeout(ask, wait);
    return () => clearTimeout(timer);
  }, [cache, outline, from, to, isScrolling]);
}
