import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** How wide an element is now, so that what is drawn in it keeps the size of its letters. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const place = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
