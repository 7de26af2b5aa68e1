/** Who is at the end stays there, whatever grows above and however the room for the list changes. */
import { elementScroll, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useState } from "react";

type List = Virtualizer<HTMLElement, HTMLElement>;

const NEAR = 4;
const BACK = new Set(["ArrowUp", "PageUp", "Home"]);
/** A scroll so many milliseconds after one of the list itself is its own. */
const OWN = 200;
/** Pixels; who presses something so far from the end does not read there. */
const FAR = 120;

/** Whether the reader is at the end, and who moved the list last. */
export class End {
  private wroteAt = 0;
  private isPressed = false;

  constructor(private isHeld: boolean) {}

  /** How the list scrolls: it is remembered that it did. */
  readonly scrollTo = (...given: Parameters<typeof elementScroll<HTMLElement>>): void => {
    this.wroteAt = performance.now();
    elementScroll(...given);
  };

  readonly leave = (): void => {
    this.isHeld = false;
  };

  /** Keeps the list at its end until somebody leaves it. */
  watch(element: HTMLElement, inside: Element, list: List): () => void {
    let last = { top: element.scrollTop, height: element.scrollHeight };
    let frame = 0;
    const keep = () => {
      cancelAnimationFrame(frame);
      if (this.isHeld && !this.isPressed && fromEnd(element) > NEAR)
        frame = requestAnimationFrame(() => list.scrollToEnd());
    };
    const onScroll = () => {
      const now = { top: element.scrollTop, height: element.scrollHeight };
      const isOwn = performance.now() - this.wroteAt < OWN || now.height < last.height;
      if (fromEnd(element) <= NEAR) this.isHeld = true;
      else if (now.top < last.top && !isOwn) this.leave();
      last = now;
      keep();
    };
    const resized = new ResizeObserver(keep);
    resized.observe(element);
    resized.observe(inside);
    const ending = new AbortController();
    const options = { passive: true, signal: ending.signal };
    // Before the list hears of it and changes: what is read here would make the browser lay it out at once.
    element.addEventListener("scroll", onScroll, { ...options, capture: true });
    element.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && this.leave(), options);
    element.addEventListener("touchmove", this.leave, options);
    element.addEventListener("keydown", ({ key }) => BACK.has(key) && this.leave(), options);
    // What is pressed does not move before it is let go. On the element itself: the bar at its side.
    const press = ({ target }: PointerEvent) => {
      cancelAnimationFrame(frame);
      this.isPressed = true;
      if (target === element || fromEnd(element) > FAR) this.leave();
    };
    const release = () => {
      this.isPressed = false;
      keep();
    };
    element.addEventListener("pointerdown", press, options);
    for (const type of ["pointerup", "pointercancel"]) window.addEventListener(type, release, options);
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      ending.abort();
    };
  }
}

const fromEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number =>
  scrollHeight - scrollTop - clientHeight;

export const useEnd = (opensAtEnd: boolean): End => useState(() => new End(opensAtEnd))[0];

export function useKeepEnd(end: End, list: List, scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = scroller.current;
    const inside = element?.firstElementChild;
    return element && inside ? end.watch(element, inside, list) : undefined;
  }, [end, list, scroller]);
}
