/** Scrolls to a message or part, waits until it has rendered, focuses it and highlights it for a moment. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { anchorOf } from "../parts/anchors";
import type { Row } from "./rows";

interface Target {
  readonly message: string;
  readonly part: string | null;
  readonly highlight: boolean;
  /** Renders to wait for a part that does not exist. */
  tries: number;
  /** The list has not been scrolled to it yet. */
  isDue: boolean;
}

/** The message or part in the page's address. */
export interface ListTarget {
  readonly message: string;
  readonly part: string | null;
  /** It is not highlighted. */
  readonly quiet: boolean;
}

interface ScrollTarget {
  /** The message that is highlighted. */
  readonly highlighted: string | null;
  /** With `opens`, it opens what hides the message or part. */
  readonly show: (message: string, part: string | null, highlight: boolean, opens?: boolean) => void;
}

/** Pixels above the target message. With a gap, measuring the message does not move it. */
export const SCROLL_MARGIN = 8;
const HIGHLIGHT_MS = 2000;
const MAX_TRIES = 40;

/** Corrects the offset: rows above may have been measured during the scroll. */
function align(row: HTMLElement, scroller: HTMLElement | null): void {
  if (!scroller) return;
  const off = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - SCROLL_MARGIN;
  if (Math.abs(off) > 1) scroller.scrollTop += off;
}

interface Options {
  readonly list: Virtualizer<HTMLElement, HTMLElement>;
  readonly rows: readonly Row[];
  /** The index of the entry of a message or part, or of the group that contains it; -1 if there is none. */
  readonly indexOf: (messageId: string, part?: string | null) => number;
  /** Opens what hides a message or part. */
  readonly reveal: (messageId: string, part: string | null) => void;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly target: ListTarget | null;
  readonly opensAtEnd: boolean;
  /** The rows are displayed. */
  readonly isReady: boolean;
  /** Stops scrolls of the list itself. */
  readonly hold: () => void;
}

export function useScrollTarget(options: Options): ScrollTarget {
  const { list, rows, indexOf, reveal, scroller, target, opensAtEnd, isReady, hold } = options;
  const pending = useRef<Target | null>(null);
  const [highlighted, setHighlighted] = useState<string | null>(null);
  const [, render] = useState(0);

  const show = (message: string, part: string | null, highlight: boolean, opens = true) => {
    pending.current = { message, part, highlight, tries: MAX_TRIES, isDue: true };
    hold();
    if (opens) reveal(message, part);
    render((count) => count + 1);
  };
  const showNow = useRef(show);
  showNow.current = show;

  // The initial position, and later changes of the address.
  const wanted = target?.message;
  const part = target?.part ?? null;
  const quiet = useRef(false);
  quiet.current = target?.quiet ?? false;
  const isThere = useMemo(
    () => wanted !== undefined && rows.some((row) => row.id === wanted),
    [wanted, rows],
  );
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (wanted !== undefined && isThere) showNow.current(wanted, part, !quiet.current);
    else if (!opened.current && opensAtEnd) list.scrollToEnd();
    opened.current = true;
  }, [list, wanted, part, isThere, opensAtEnd]);

  // As soon as the list has the entry: it may have been in a group.
  useLayoutEffect(() => {
    const sought = pending.current;
    const index = sought?.isDue ? indexOf(sought.message, sought.part) : -1;
    if (!sought || index < 0) return;
    sought.isDue = false;
    list.scrollToIndex(index, { align: "start" });
  });

  // A scroll of the user cancels the target.
  useEffect(() => {
    const element = scroller.current;
    const cancel = () => {
      pending.current = null;
    };
    element?.addEventListener("wheel", cancel, { passive: true });
    element?.addEventListener("touchmove", cancel, { passive: true });
    return () => {
      element?.removeEventListener("wheel", cancel);
      element?.removeEventListener("touchmove", cancel);
    };
  }, [scroller]);

  // Runs after every render until the element exists and the rows above it have been measured.
  const size = list.getTotalSize();
  useEffect(() => {
    const sought = pending.current;
    if (!sought || !isReady || list.getTotalSize() !== size) return;
    const index = indexOf(sought.message, sought.part);
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]:not([aria-hidden])`);
    const element = sought.part ? document.getElementById(anchorOf(sought.message, sought.part)) : row;
    if (!row || (!element && --sought.tries > 0)) {
      const frame = row ? requestAnimationFrame(() => render((count) => count + 1)) : 0;
      return () => cancelAnimationFrame(frame);
    }
    pending.current = null;
    hold();
    // A part that is higher than the list starts at its top: its row must not leave the list before it is measured.
    const isHigh = (element?.offsetHeight ?? 0) > (scroller.current?.clientHeight ?? 0);
    if (sought.part) element?.scrollIntoView({ block: isHigh ? "start" : "center" });
    else align(row, scroller.current);
    // The focus stays in a field, such as that of the find bar.
    if (!document.activeElement?.matches("input, textarea, select")) row.focus({ preventScroll: true });
    if (sought.highlight) setHighlighted(sought.message);
  });

  useEffect(() => {
    if (highlighted === null) return;
    const timer = setTimeout(() => setHighlighted(null), HIGHLIGHT_MS);
    return () => clearTimeout(timer);
  }, [highlighted]);

  return { highlighted, show };
}
