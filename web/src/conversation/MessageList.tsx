import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Outline } from "../api/messages";
import type { Extent } from "../outline/marks";
import type { Message } from "../partita.gen";
import { Button } from "../ui/Button";
import { Failure } from "../ui/States";
import { useEndAnchor, useStickToEnd } from "../ui/useStickToEnd";
import type { MessageCache } from "./cache";
import type { Actions } from "./MessageActions";
import styles from "./MessageList.module.css";
import { MessageRow } from "./MessageRow";
import { isQuestion, type Row } from "./rows";
import { useDeferredRows } from "./useDeferredRows";
import type { RenderContexts } from "./useRenderContexts";
import { type ListTarget, SCROLL_MARGIN, useScrollTarget } from "./useScrollTarget";

/** The methods of the list that other components call. */
export interface ListControl {
  /** Scrolls to a message or part and highlights it for a moment, unless it has a mark of its own. */
  readonly show: (messageId: string, part?: string | null, highlight?: boolean) => void;
  readonly step: (by: 1 | -1) => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
  /** The message at the top of the visible area. */
  readonly top: () => string | null;
  /** Where a message is in the scrolled content, in pixels; rows that have not been rendered are estimated. */
  readonly extentOf: (messageId: string) => Extent | null;
  /** The element that scrolls. */
  readonly scroller: () => HTMLElement | null;
}

interface Props {
  readonly rows: readonly Row[];
  readonly outline: Outline;
  readonly cache: MessageCache;
  readonly live: ReadonlyMap<string, Message>;
  readonly target: ListTarget | null;
  /** Without a target, the list opens at its end. */
  readonly opensAtEnd: boolean;
  readonly selected: string | null;
  readonly onSelect: (messageId: string) => void;
  readonly actions: Actions;
  readonly editing: string | null;
  readonly editor: ReactNode;
  readonly contexts: RenderContexts;
  /** The message that is streaming. */
  readonly liveId: string | null;
  readonly control: Ref<ListControl>;
}

const NEAR_END = 120;
/** Milliseconds between two loads while the list scrolls. */
const LOAD_INTERVAL = 80;

/** A virtual list of messages: only visible rows are rendered. */
export function MessageList(props: Props) {
  const { rows, outline, cache, live, target, selected, onSelect } = props;
  const scroller = useRef<HTMLElement>(null);
  useSyncExternalStore(cache.subscribe, cache.version);
  const indexes = useMemo(() => new Map(rows.map(({ id }, index) => [id, index])), [rows]);
  const [opensAtEnd] = useState(target === null && props.opensAtEnd);
  const [first] = useState(() =>
    firstOffset(rows, opensAtEnd ? null : (target?.message ?? rows[0]?.id ?? null)),
  );
  // Stable functions: new ones make the virtualizer measure all rows again.
  const estimateSize = useCallback((index: number) => rows[index]?.estimate ?? 60, [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const end = useEndAnchor(opensAtEnd, NEAR_END);
  const list = useVirtualizer<HTMLElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 24,
    scrollPaddingStart: SCROLL_MARGIN,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: end.threshold,
    initialOffset: first,
    scrollToFn: end.scrollTo,
    initialRect: { width: 800, height: 800 },
  });
  useStickToEnd(end, list, scroller);
  const items = list.getVirtualItems();
  const isReady = useReady(items.every(({ index }) => isShown(rows[index], cache, live)));
  const leaveEnd = end.release;
  const scrollTarget = useScrollTarget({ list, rows, scroller, target, opensAtEnd, isReady, leaveEnd });
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  useLoadVisible(cache, outline, from, to, list.isScrolling);

  const activeFrom = useMemo(
    () => (outline.running ? rows.findLastIndex(isQuestion) : rows.length),
    [outline.running, rows],
  );
  const contextOf = (index: number): keyof RenderContexts =>
    rows[index]?.id === props.liveId ? "live" : index > activeFrom ? "active" : "stored";

  const ready = items.flatMap(({ index }) => {
    const id = rows[index]?.id;
    return id !== undefined && !live.has(id) && cache.get(id) ? [id] : [];
  });
  const failures = items.flatMap(({ index }) => {
    const id = rows[index]?.id;
    return id === undefined || live.has(id) ? [] : (cache.failure(id) ?? []);
  });
  const deferred = useDeferredRows(ready, list.isScrolling);

  const choose = (index: number) => {
    const row = rows[index];
    if (!row) return;
    onSelect(row.id);
    scrollTarget.show(row.id, null, false);
  };
  useImperativeHandle(props.control, () => ({
    show: (messageId, part, highlight = true) => scrollTarget.show(messageId, part ?? null, highlight),
    step: (by) => {
      const current = indexes.get(selected ?? "") ?? -1;
      choose(isVisible(list, current) ? current + by : topIndex(list));
    },
    toStart: () => choose(0),
    toEnd: () => {
      const last = rows.at(-1);
      if (last) onSelect(last.id);
      list.scrollToEnd();
    },
    top: () => rows[topIndex(list)]?.id ?? null,
    scroller: () => scroller.current,
    extentOf: (messageId) => list.measurementsCache[indexes.get(messageId) ?? -1] ?? null,
  }));

  const isAtEnd = list.isAtEnd(NEAR_END);
  return (
    <div className={styles.frame} data-ready={isReady}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label="Messages" tabIndex={0}>
        <div className={styles.sizer} style={{ height: list.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <MessageRow
                key={row.id}
                message={live.get(row.id) ?? (deferred.has(row.id) ? undefined : cache.get(row.id))}
                context={props.contexts[contextOf(item.index)]}
                id={row.id}
                index={item.index}
                start={item.start}
                height={item.size}
                failed={cache.failure(row.id) !== undefined}
                siblings={outline.siblings[row.id]}
                selected={row.id === selected}
                highlighted={row.id === scrollTarget.highlighted}
                isLive={live.has(row.id)}
                editor={row.id === props.editing ? props.editor : null}
                actions={props.actions}
                measure={list.measureElement}
              />
            );
          })}
        </div>
      </section>
      {failures.length > 0 && (
        <div className={styles.failure}>
          <div>
            <Failure error={failures[0]} retry={() => cache.loadAround(outline.rows, from, to)} />
          </div>
        </div>
      )}
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

/** The estimated initial offset: at a message, or at the end. */
function firstOffset(rows: readonly Row[], target: string | null): number {
  const index = target === null ? -1 : rows.findIndex((row) => row.id === target);
  const before = index < 0 ? rows : rows.slice(0, index);
  return before.reduce((sum, row) => sum + row.estimate, 0);
}

/** Whether the content of a row, or the reason why there is none, is displayed. */
const isShown = (row: Row | undefined, cache: MessageCache, live: ReadonlyMap<string, Message>): boolean =>
  !row || live.has(row.id) || cache.get(row.id) !== undefined || cache.failure(row.id) !== undefined;

/** Stays true: the rows appear together, measured, so that none moves another one. */
function useReady(isReadyNow: boolean): boolean {
  const [wasReady, setReady] = useState(isReadyNow);
  if (isReadyNow && !wasReady) setReady(true);
  return wasReady || isReadyNow;
}

function isVisible(list: List, index: number): boolean {
  const { start, end } = list.measurementsCache[index] ?? { start: 0, end: 0 };
  const top = list.scrollOffset ?? 0;
  return end > top && start < top + (list.scrollRect?.height ?? 0);
}

/** The row at the top of the visible area. */
const topIndex = (list: List): number =>
  list.getVirtualItemForOffset((list.scrollOffset ?? 0) + SCROLL_MARGIN + 1)?.index ?? 0;

/** Loads the visible rows: at once when the list is still, at intervals while it scrolls. */
function useLoadVisible(
  cache: MessageCache,
  outline: Outline,
  from: number,
  to: number,
  isScrolling: boolean,
): void {
  const last = useRef(0);
  useEffect(() => {
    const load = () => {
      last.current = Date.now();
      cache.loadAround(outline.rows, from, to);
    };
    const wait = isScrolling ? Math.max(0, last.current + LOAD_INTERVAL - Date.now()) : 0;
    if (!wait) return load();
    const timer = setTimeout(load, wait);
    return () => clearTimeout(timer);
  }, [cache, outline, from, to, isScrolling]);
}
