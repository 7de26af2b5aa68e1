import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type ReactNode,
  type Ref,
  startTransition,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { Outline } from "../api/messages";
import type { Extent } from "../outline/marks";
import type { Message, ThreadOverview } from "../partita.gen";
import { Failure } from "../ui/States";
import { useEndAnchor, useStickToEnd } from "../ui/useStickToEnd";
import type { MessageCache } from "./cache";
import { type Entry, type MessageEntry, messageOf } from "./entries";
import type { Filter } from "./filter";
import { GroupRow } from "./GroupRow";
import type { Actions } from "./MessageActions";
import styles from "./MessageList.module.css";
import { MessageRow } from "./MessageRow";
import { isQuestion, type Row } from "./rows";
import { useDeferredRows } from "./useDeferredRows";
import { useEntries } from "./useEntries";
import { useHeldTop } from "./useHeldTop";
import { useLoadVisible } from "./useLoadVisible";
import type { RenderContexts } from "./useRenderContexts";
import { type ListTarget, SCROLL_MARGIN, useScrollTarget } from "./useScrollTarget";

/** The methods of the list that other components call. */
export interface ListControl {
  /** Scrolls to a message or part and highlights it for a moment, unless it has a mark of its own. */
  readonly show: (messageId: string, part?: string | null, highlight?: boolean) => void;
  /** Stops scrolls of its own, such as to the end: something else scrolls it now. */
  readonly hold: () => void;
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
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly overview: ThreadOverview | undefined;
  /** Opens the timeline of a turn. A stable function. */
  readonly onTimeline: (messageId: string) => void;
  /** New messages can be sent: the last message is never folded. */
  readonly canWrite: boolean;
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
/** Rows that are rendered before and after the visible ones. */
const OVERSCAN = 4;
const NO_FILTER: Filter = new Set();

/** A virtual list of messages: only visible rows are rendered. */
export function MessageList(props: Props) {
  const { rows, outline, cache, live, target, selected, onSelect, onFilter } = props;
  const scroller = useRef<HTMLElement>(null);
  useSyncExternalStore(cache.subscribe, cache.version);
  const clearFilter = useCallback(() => onFilter(NO_FILTER), [onFilter]);
  const { entries, indexOf, reveal, toggle, view } = useEntries({
    rows,
    isRunning: outline.running,
    keepsLast: props.canWrite,
    filter: props.filter,
    clearFilter,
    target,
  });
  const [opensAtEnd] = useState(target === null && props.opensAtEnd);
  const [first] = useState(() =>
    total(opensAtEnd ? entries : entries.slice(0, Math.max(0, indexOf(target?.message ?? "", target?.part)))),
  );
  // Stable functions: new ones make the virtualizer measure all rows again.
  const estimateSize = useCallback((index: number) => entries[index]?.estimate ?? 60, [entries]);
  const getItemKey = useCallback((index: number) => entries[index]?.key ?? index, [entries]);
  const end = useEndAnchor(opensAtEnd, NEAR_END);
  const [hasAppeared, setAppeared] = useState(false);
  const list = useVirtualizer<HTMLElement, HTMLElement>({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: hasAppeared ? OVERSCAN : 0,
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
  useHeldTop({ list, entries, indexOf, view, isHeld: end.threshold < 0, scroller });
  const items = list.getVirtualItems();
  const isReady = useReady(items.every(({ index }) => isShown(entries[index], cache, live)));
  useEffect(() => {
    if (isReady) startTransition(() => setAppeared(true)); // rows that cannot be seen come after those that can
  }, [isReady]);
  const scrollTarget = useScrollTarget({
    list,
    rows,
    indexOf,
    reveal,
    scroller,
    target,
    opensAtEnd,
    isReady,
    hold: end.hold,
  });
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const load = useLoadVisible(cache, outline, entries, from, to, list.isScrolling);
  const visible = items.flatMap(({ index }) => {
    const entry = entries[index];
    return entry?.kind === "message" && !live.has(entry.row.id) ? [entry.row.id] : [];
  });
  const deferred = useDeferredRows(
    visible.filter((id) => cache.get(id)),
    list.isScrolling,
  );
  const failures = visible.flatMap((id) => cache.failure(id) ?? []);
  const overviews = useMemo(
    () => new Map(props.overview?.turns.map((turn) => [turn.messageId, turn])),
    [props.overview],
  );

  const choose = (messageId: string | undefined) => {
    if (messageId === undefined) return;
    onSelect(messageId);
    scrollTarget.show(messageId, null, false, false);
  };
  const stepBy = (by: 1 | -1) => {
    const current = selected === null ? -1 : indexOf(selected);
    const next = isVisible(list, current) ? current + by : topIndex(list);
    const stop = by > 0 ? entries.slice(next).find(isStop) : entries.slice(0, next + 1).findLast(isStop);
    choose(stop && messageOf(stop));
  };
  const ends = {
    start: () => choose(entries[0] && messageOf(entries[0])),
    end: () => {
      const last = entries.at(-1);
      if (last) onSelect(messageOf(last));
      list.scrollToEnd();
    },
  };
  const latestEnds = useRef(ends);
  latestEnds.current = ends;
  const dueEnd = useRef<keyof typeof ends>(null);
  const toEnd = (end: keyof typeof ends) => {
    dueEnd.current = outline.complete ? null : end; // the first or last message may not be known yet
    ends[end]();
  };
  useEffect(() => {
    if (outline.complete && dueEnd.current) latestEnds.current[dueEnd.current]();
    if (outline.complete) dueEnd.current = null;
  }, [outline.complete]);
  useImperativeHandle(props.control, () => ({
    show: (messageId, part, highlight = true) => scrollTarget.show(messageId, part ?? null, highlight),
    hold: end.hold,
    step: stepBy,
    toStart: () => toEnd("start"),
    toEnd: () => toEnd("end"),
    top: () => {
      const top = entries[topIndex(list)];
      return top ? messageOf(top) : null;
    },
    scroller: () => scroller.current,
    extentOf: (messageId) => list.measurementsCache[indexOf(messageId)] ?? null,
  }));
  // A stable function for rows that render only if they change.
  const latest = useRef(toggle);
  latest.current = toggle;
  const onToggle = useCallback((key: string) => latest.current(key), []);

  return (
    <div className={styles.frame} data-ready={isReady}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section ref={scroller} className={styles.scroller} aria-label="Messages" tabIndex={0}>
        <div className={styles.sizer} style={{ height: list.getTotalSize() }}>
          {items.map((item) => {
            const entry = entries[item.index];
            if (!entry) return null;
            const place = { index: item.index, start: item.start, measure: list.measureElement };
            if (entry.kind === "group")
              return (
                <GroupRow
                  key={entry.key}
                  entry={entry}
                  selected={!entry.isOpen && entry.slices.some(({ row }) => row.id === selected)}
                  onToggle={onToggle}
                  {...place}
                />
              );
            const { id } = entry.row;
            return (
              <MessageRow
                key={entry.key}
                entry={entry}
                overview={entry.turn && overviews.get(id)}
                onTimeline={props.onTimeline}
                message={live.get(id) ?? (deferred.has(id) ? undefined : cache.get(id))}
                context={props.contexts[contextOf(entry, props.liveId)]}
                height={item.size}
                failed={cache.failure(id) !== undefined}
                siblings={outline.siblings[id]}
                selected={id === selected}
                highlighted={id === scrollTarget.highlighted}
                isLive={live.has(id)}
                editor={id === props.editing ? props.editor : null}
                actions={props.actions}
                {...place}
              />
            );
          })}
        </div>
      </section>
      {failures.length > 0 && (
        <div className={styles.failure}>
          <div>
            <Failure error={failures[0]} retry={load} />
          </div>
        </div>
      )}
      {entries.length === 0 && <p className={styles.nothing}>No messages of these kinds.</p>}
    </div>
  );
}

const total = (entries: readonly Entry[]): number => entries.reduce((sum, one) => sum + one.estimate, 0);

const contextOf = ({ row, isRunning }: MessageEntry, liveId: string | null): keyof RenderContexts =>
  row.id === liveId ? "live" : isRunning && !isQuestion(row) ? "active" : "stored";

/** Whether j and k stop at an entry. The parts of an open group do not count as messages. */
const isStop = (entry: Entry): boolean => (entry.kind === "group" ? !entry.isOpen : entry.isMain);

/** Whether the content of an entry, or the reason why there is none, is displayed. */
function isShown(entry: Entry | undefined, cache: MessageCache, live: ReadonlyMap<string, Message>): boolean {
  if (entry?.kind !== "message") return true;
  const { id } = entry.row;
  return live.has(id) || cache.get(id) !== undefined || cache.failure(id) !== undefined;
}

/** Stays true: the rows appear together, measured, so that none moves another one. */
function useReady(isReadyNow: boolean): boolean {
  const [isReady, setReady] = useState(false);
  useLayoutEffect(() => {
    if (isReadyNow) setReady(true);
  }, [isReadyNow]);
  return isReady;
}

function isVisible(list: List, index: number): boolean {
  const { start, end } = list.measurementsCache[index] ?? { start: 0, end: 0 };
  const top = list.scrollOffset ?? 0;
  return end > top && start < top + (list.scrollRect?.height ?? 0);
}
type List = ReturnType<typeof useVirtualizer<HTMLElement, HTMLElement>>;

/** The row at the top of the visible area. */
const topIndex = (list: List): number =>
  list.getVirtualItemForOffset((list.scrollOffset ?? 0) + SCROLL_MARGIN + 1)?.index ?? 0;
