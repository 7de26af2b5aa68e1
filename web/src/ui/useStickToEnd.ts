/** Keeps a list scrolled to its end while it grows or its window is resized, until the user scrolls up. */
import { elementScroll, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useState } from "react";

type List = Virtualizer<HTMLElement, HTMLElement>;

/** Pixels from the end that count as the end. */
const TOLERANCE = 4;
const KEYS_UP = new Set(["ArrowUp", "PageUp", "Home"]);
/** Milliseconds after a scroll of the list itself in which a scroll event is not the user's. */
const OWN_SCROLL_MS = 200;
/** Pixels from the end; a click farther away releases the list. */
const RELEASE_DISTANCE = 120;

/** Whether the list is attached to its end, and when it last scrolled itself. */
class EndAnchor {
  private scrolledAt = 0;
  private isPointerDown = false;
  private list: List | null = null;
  private element: HTMLElement | null = null;

  constructor(
    private isAttached: boolean,
    private readonly distance: number,
  ) {}

  /** The distance from the end within which the list moves with what grows: none if it is not attached. */
  get threshold(): number {
    return this.isAttached ? this.distance : -1;
  }

  /** The scroll function of the list. It records when the list scrolls itself. */
  readonly scrollTo = (...args: Parameters<typeof elementScroll<HTMLElement>>): void => {
    this.scrolledAt = performance.now();
    elementScroll(...args);
  };

  readonly release = (): void => this.attach(false);

  /** The user acts: the list is released, and a scroll of its own that has not ended is given up. */
  private readonly yieldToUser = (): void => {
    this.release();
    this.list?.cancelScroll();
  };

  /** Something else scrolls the list now: it is released, and gives up scrolls and corrections that have not ended. */
  readonly hold = (): void => {
    this.release();
    if (!this.list || !this.element) return;
    this.list.scrollToOffset(this.element.scrollTop); // gives up corrections that wait until there is more to scroll
    this.list.cancelScroll();
  };

  private attach(isAttached: boolean): void {
    this.isAttached = isAttached;
    if (this.list) this.list.options.scrollEndThreshold = this.threshold; // at once, not at the next render
  }

  /** Starts to follow the end. Returns a function that stops it. */
  observe(element: HTMLElement, inside: HTMLElement, list: List): () => void {
    this.list = list;
    this.element = element;
    let last = { top: element.scrollTop, height: element.scrollHeight };
    let frame = 0;
    const follow = () => {
      cancelAnimationFrame(frame);
      if (this.isAttached && !this.isPointerDown && fromEnd(element) > TOLERANCE)
        frame = requestAnimationFrame(() => list.scrollToEnd());
    };
    const onScroll = () => {
      const now = { top: element.scrollTop, height: element.scrollHeight };
      const isOwn = performance.now() - this.scrolledAt < OWN_SCROLL_MS || now.height < last.height;
      const bottom = now.top + element.clientHeight;
      const isPastContent = bottom > Number.parseFloat(inside.style.height) + TOLERANCE;
      if (inside.style.minHeight) inside.style.minHeight = isPastContent ? `${bottom}px` : "";
      if (fromEnd(element) <= TOLERANCE && !isPastContent) this.attach(true);
      else if (now.top < last.top && !isOwn) this.release();
      last = now;
      follow();
    };
    const onResize = () => {
      // What fits its window never scrolls: no event corrects the offset that the list started with.
      if (element.scrollHeight <= element.clientHeight) list.scrollOffset = 0;
      follow();
    };
    const resized = new ResizeObserver(onResize);
    resized.observe(element);
    resized.observe(inside);
    const abort = new AbortController();
    const options = { passive: true, signal: abort.signal };
    // In the capture phase, before the list changes: reading the offset afterwards would force a layout.
    element.addEventListener("scroll", onScroll, { ...options, capture: true });
    element.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && this.yieldToUser(), options);
    element.addEventListener("touchmove", this.yieldToUser, options);
    element.addEventListener("keydown", ({ key }) => KEYS_UP.has(key) && this.yieldToUser(), options);
    // What the user expands or collapses stays where it is, also if there is too little below it to fill the window.
    const onClick = ({ target }: Event) => {
      if (!isToggle(target)) return;
      this.hold();
      inside.style.minHeight = `${element.scrollTop + element.clientHeight}px`;
    };
    element.addEventListener("click", onClick, { ...options, capture: true });
    // The list must not move under a pressed pointer. A press on the element itself is on its scroll bar.
    const press = ({ target }: PointerEvent) => {
      cancelAnimationFrame(frame);
      this.isPointerDown = true;
      if (target === element || fromEnd(element) > RELEASE_DISTANCE) this.yieldToUser();
    };
    const unpress = () => {
      this.isPointerDown = false;
      follow();
    };
    element.addEventListener("pointerdown", press, options);
    for (const type of ["pointerup", "pointercancel"]) window.addEventListener(type, unpress, options);
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      abort.abort();
    };
  }
}

const isToggle = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("[aria-expanded]") !== null;

const fromEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight;

/** `distance`: pixels from the end within which an attached list moves with what grows. */
export const useEndAnchor = (opensAtEnd: boolean, distance: number): EndAnchor =>
  useState(() => new EndAnchor(opensAtEnd, distance))[0];

export function useStickToEnd(end: EndAnchor, list: List, scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = scroller.current;
    const inside = element?.firstElementChild;
    return element && inside instanceof HTMLElement ? end.observe(element, inside, list) : undefined;
  }, [end, list, scroller]);
}
