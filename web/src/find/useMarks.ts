/** Marks the occurrences in the rendered messages, and scrolls to the current one. */
import { type RefObject, useEffect, useRef } from "react";
import { anchorOf } from "../parts/anchors";
import { type FoundPart, type Occurrence, type Place, patternOf, placeOf } from "./matches";
import { expandAround, seek } from "./seek";
import { textRanges } from "./textRanges";

/** The names of the highlights in the style sheet. */
const ALL = "find";
const CURRENT = "find-current";
/** After a jump, cards open and outputs load. The occurrence stays in view for so many milliseconds after it moved. */
const SETTLE_MS = 1500;
/** A jump lasts no longer. */
const MAX_MS = 10_000;
const RETRY_MS = 60;
/** The list is asked for a part again if it has not been rendered for so many milliseconds. */
const LOST_MS = 600;
/** The distance of the current occurrence from the edges of the list, at least. */
const MARGIN = 56;

interface Options {
  /** The element that contains the list of messages. */
  readonly frame: RefObject<HTMLElement | null>;
  readonly parts: readonly FoundPart[];
  /** A new object scrolls to it. */
  readonly current: Occurrence | null;
  /** The words that are marked in parts for which the server names none. */
  readonly fallback: readonly string[];
  readonly list: ScrolledList;
}

interface ScrolledList {
  /** Scrolls to a part that is not rendered. */
  readonly show: (place: Place) => void;
  /** Stops scrolls of its own. */
  readonly hold: () => void;
}

export function useMarks({ frame, parts, current, fallback, list }: Options): void {
  const latest = useRef(list);
  latest.current = list;
  const shown = useRef<Occurrence | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element || !parts.length || !("highlights" in CSS)) return;
    const painter = new Painter(element, parts, current, fallback);
    const isJump = current !== null && current !== shown.current;
    let until = isJump ? Date.now() + SETTLE_MS : 0;
    const end = Date.now() + MAX_MS;
    shown.current = current;
    let timer = 0;
    let rendered = Date.now();
    const paint = () => {
      clearTimeout(timer);
      const isJumping = Date.now() < until;
      const range = painter.paint(isJumping);
      if (!isJumping || !current) return;
      if (painter.isRendered) rendered = Date.now();
      else if (Date.now() - rendered > LOST_MS) {
        rendered = Date.now();
        latest.current.show(placeOf(current));
      }
      if (!range || reveal(range, element, latest.current.hold))
        until = Math.min(Date.now() + SETTLE_MS, end);
      timer = window.setTimeout(paint, RETRY_MS);
    };
    // Rows are rendered as the list scrolls, and text as cards are opened.
    let frameRequest = 0;
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frameRequest);
      frameRequest = requestAnimationFrame(paint);
    });
    const release = () => {
      until = 0;
    };
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    for (const event of ["wheel", "touchmove", "pointerdown"] as const)
      element.addEventListener(event, release, { passive: true });
    paint();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frameRequest);
      clearTimeout(timer);
      for (const event of ["wheel", "touchmove", "pointerdown"] as const)
        element.removeEventListener(event, release);
      CSS.highlights.delete(ALL);
      CSS.highlights.delete(CURRENT);
    };
  }, [frame, parts, current, fallback]);
}

class Painter {
  private readonly byMessage = new Map<string, FoundPart[]>();
  private readonly patterns = new Map<FoundPart, RegExp | null>();
  private last: Range | null = null;
  /** Whether the part of the current occurrence is in the page. */
  isRendered = false;

  constructor(
    private readonly frame: HTMLElement,
    parts: readonly FoundPart[],
    private readonly current: Occurrence | null,
    private readonly fallback: readonly string[],
  ) {
    for (const one of parts) {
      const known = this.byMessage.get(one.messageId);
      if (known) known.push(one);
      else this.byMessage.set(one.messageId, [one]);
    }
  }

  /** Marks all occurrences that are rendered. Returns the current one, which is sought during a jump. */
  paint(isJumping: boolean): Range | null {
    const all: Range[] = [];
    this.isRendered = false;
    for (const row of this.frame.querySelectorAll<HTMLElement>("[data-message], [data-slice]"))
      for (const found of this.byMessage.get(row.dataset.message ?? row.dataset.slice ?? "") ?? []) {
        const element = found.part ? document.getElementById(anchorOf(found.messageId, found.part)) : row;
        const pattern = this.patternOf(found);
        const ranges = element && pattern ? textRanges(element, pattern) : [];
        for (const range of ranges) all.push(range);
        if (found !== this.current?.found || !element || !pattern) continue;
        this.isRendered = true;
        if (isJumping) this.last = seek(element, pattern, ranges, this.current.number);
      }
    const current = all.find((range) => isSame(range, this.last)) ?? null;
    CSS.highlights.set(ALL, new Highlight(...all));
    const strong = new Highlight(...(current ? [current] : []));
    strong.priority = 1;
    CSS.highlights.set(CURRENT, strong);
    return current;
  }

  private patternOf(found: FoundPart): RegExp | null {
    let pattern = this.patterns.get(found);
    if (pattern === undefined) {
      pattern = found.words?.length ? patternOf(found.words) : patternOf(this.fallback, "i");
      this.patterns.set(found, pattern);
    }
    return pattern;
  }
}

const isSame = (range: Range, other: Range | null): boolean =>
  other !== null && range.startContainer === other.startContainer && range.startOffset === other.startOffset;

/** Expands and scrolls the areas inside the message, then the list. Returns whether anything moved. */
function reveal(range: Range, frame: HTMLElement, hold: () => void): boolean {
  const list = frame.querySelector("section");
  const start = range.startContainer.parentElement;
  if (!list || !start) return false;
  if (expandAround(start, list)) return true;
  let isMoved = false;
  const area = list.getBoundingClientRect();
  for (let at: HTMLElement | null = start; at && at !== list; at = at.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(at);
    const inner = at.getBoundingClientRect();
    const word = range.getBoundingClientRect();
    const isOutside = word.top < inner.top || word.bottom > inner.bottom;
    if (isOutside && at.scrollHeight > at.clientHeight && /auto|scroll/.test(overflowY)) {
      at.scrollTop += word.top - inner.top - inner.height / 2;
      isMoved = true;
    }
    const isAside = word.left < inner.left || word.right > inner.right;
    if (isAside && at.scrollWidth > at.clientWidth && /auto|scroll/.test(overflowX)) {
      at.scrollLeft += word.left - inner.left - inner.width / 2;
      isMoved = true;
    }
  }
  const word = range.getBoundingClientRect();
  if (word.top >= area.top + MARGIN && word.bottom <= area.bottom - MARGIN) return isMoved;
  hold();
  const before = list.scrollTop;
  list.scrollTop += word.top - area.top - area.height / 3;
  return isMoved || Math.abs(list.scrollTop - before) > 1; // at the ends it may stay
}
