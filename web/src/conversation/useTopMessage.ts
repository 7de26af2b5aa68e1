/** The message at the top of the list, or the one that was shown last until the user scrolls. */
import { type RefObject, useEffect, useRef, useState } from "react";
import type { ListControl } from "./MessageList";

const SCROLL_KEYS = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", " "]);

export function useTopMessage(
  frame: RefObject<HTMLElement | null>,
  list: RefObject<ListControl | null>,
  /** The message that was shown last. Near the end of the list, it cannot be at the top. */
  shown: string | null,
): string | null {
  const [top, setTop] = useState<string | null>(shown);
  const pinned = useRef(shown);
  useEffect(() => {
    pinned.current = shown;
    setTop((was) => shown ?? list.current?.top() ?? was);
  }, [shown, list]);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    let request = 0;
    const update = () => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(() => setTop(pinned.current ?? list.current?.top() ?? null));
    };
    const release = () => {
      pinned.current = null;
    };
    const abort = new AbortController();
    const options = { passive: true, capture: true, signal: abort.signal }; // scroll events do not bubble
    element.addEventListener("scroll", update, options);
    for (const type of ["wheel", "touchmove", "pointerdown"] as const)
      element.addEventListener(type, release, options);
    element.addEventListener("keydown", ({ key }) => SCROLL_KEYS.has(key) && release(), options);
    update();
    return () => {
      cancelAnimationFrame(request);
      abort.abort();
    };
  }, [frame, list]);
  return top;
}
