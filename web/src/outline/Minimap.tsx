import { type PointerEvent, useCallback, useEffect, useRef, useState } from "react";
import styles from "./Minimap.module.css";
import {
  type Extent,
  type Mark,
  type MarkKind,
  markAt,
  offsetAt,
  type PlacedMark,
  pathOf,
  placeMarks,
  WIDTH,
  windowOf,
} from "./marks";

interface Props {
  readonly marks: readonly Mark[];
  /** The element that scrolls; its first child has the height of the content. */
  readonly scroller: () => HTMLElement | null;
  readonly extentOf: (messageId: string) => Extent | null;
  readonly onShow: (messageId: string, part: string | null) => void;
}

/** Where the strip was pressed. */
interface Grab {
  readonly y: number;
  /** The top of the window. */
  readonly from: number;
  /** The mark that is there, until the pointer is dragged. */
  readonly mark: Mark | null;
}

/** In the order in which they are drawn. */
const KINDS: readonly MarkKind[] = ["match", "question", "edit", "agent", "error"];
const LEGEND = [
  "▬ questions, at the left",
  "◆ errors",
  "■ edits",
  "● sub-agents, at the right",
  "― matches of the find bar",
  "Click or drag to scroll",
].join("\n");
/** Rows are measured while the list scrolls: the marks move at most this often. */
const INTERVAL = 200;
/** Pixels from which on a press on a mark is a drag. */
const MIN_DRAG = 3;
const SCROLL = { passive: true, capture: true };

/** The scroll bar of the messages, with marks. It is hidden from assistive technology, which has the outline. */
export function Minimap({ marks, scroller, extentOf, onShow }: Props) {
  const strip = useRef<HTMLDivElement>(null);
  const handle = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  const grab = useRef<Grab | null>(null);
  const [placed, setPlaced] = useState<readonly PlacedMark[]>([]);
  const latest = useRef({ marks, scroller, extentOf });
  latest.current = { marks, scroller, extentOf };

  const move = useCallback(() => {
    const element = latest.current.scroller();
    const found = element && windowOf(element, height.current);
    if (!handle.current) return;
    handle.current.hidden = !found;
    if (!found) return;
    handle.current.style.height = `${found.size}px`;
    handle.current.style.transform = `translateY(${found.top}px)`;
  }, []);
  const place = useCallback(() => {
    const now = latest.current;
    const element = now.scroller();
    if (element) setPlaced(placeMarks(now.marks, now.extentOf, element.scrollHeight, height.current));
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other marks are placed
  useEffect(place, [place, marks]);
  useEffect(() => {
    const element = scroller();
    if (!element || !strip.current) return;
    let timer = 0;
    const resized = new ResizeObserver(() => {
      height.current = strip.current?.clientHeight ?? 0;
      move();
      timer ||= window.setTimeout(() => {
        timer = 0;
        place();
      }, INTERVAL);
    });
    resized.observe(strip.current);
    if (element.firstElementChild) resized.observe(element.firstElementChild);
    // In the capture phase, before the list changes: reading the offset afterwards would force a layout.
    element.addEventListener("scroll", move, SCROLL);
    return () => {
      clearTimeout(timer);
      resized.disconnect();
      element.removeEventListener("scroll", move, SCROLL);
    };
  }, [scroller, move, place]);

  const scrollTo = (top: number) => {
    const element = scroller();
    const found = element && windowOf(element, height.current);
    if (found) element.scrollTop = offsetAt(top, found.size, element, height.current);
  };
  const pointAt = (event: PointerEvent) => {
    const box = strip.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.preventDefault(); // no selection, and the focus stays
    const { x, y } = pointAt(event);
    const element = scroller();
    const found = element && windowOf(element, height.current);
    if (!found) return;
    const mark = markAt(placed, x, y);
    event.currentTarget.setPointerCapture(event.pointerId);
    const isInside = y >= found.top && y <= found.top + found.size;
    const from = isInside ? found.top : y - found.size / 2;
    grab.current = { y, from, mark };
    if (!isInside && !mark) scrollTo(from);
  };
  const drag = (event: PointerEvent) => {
    if (!grab.current) return;
    const by = pointAt(event).y - grab.current.y;
    if (grab.current.mark && Math.abs(by) < MIN_DRAG) return;
    grab.current = { ...grab.current, mark: null };
    scrollTo(grab.current.from + by);
  };
  const release = () => {
    const mark = grab.current?.mark;
    grab.current = null;
    if (mark) onShow(mark.messageId, mark.part);
  };
  const cancel = () => {
    grab.current = null;
  };
  return (
    <div
      ref={strip}
      className={styles.strip}
      aria-hidden
      title={LEGEND}
      onPointerDown={press}
      onPointerMove={drag}
      onPointerUp={release}
      onPointerCancel={cancel}
    >
      <svg width={WIDTH} className={styles.marks} focusable={false}>
        <title>{LEGEND}</title>
        {KINDS.map((kind) => (
          <path key={kind} data-kind={kind} d={pathOf(placed, kind)} />
        ))}
      </svg>
      <div ref={handle} className={styles.window} hidden />
    </div>
  );
}
