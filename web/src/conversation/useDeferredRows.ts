/** While the list scrolls, each frame renders only a few new rows; all at once would block scrolling. */
import { useLayoutEffect, useRef, useState } from "react";

const ROWS_PER_FRAME = 3;
const NONE: ReadonlySet<string> = new Set();

/** Of the rows that could be rendered, in order: those to render in a later frame. */
export function useDeferredRows(ready: readonly string[], isScrolling: boolean): ReadonlySet<string> {
  const rendered = useRef<ReadonlySet<string> | null>(null); // null before the first rows, which render at once
  const [, render] = useState(0);
  const deferred = isScrolling && rendered.current ? deferredRows(ready, rendered.current) : NONE;
  useLayoutEffect(() => {
    if (ready.length || rendered.current) rendered.current = new Set(ready.filter((id) => !deferred.has(id)));
    if (!deferred.size) return;
    const frame = requestAnimationFrame(() => render((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  });
  return deferred;
}

/** The rows that are not rendered yet, except the few that are nearest to the middle. */
export function deferredRows(ready: readonly string[], rendered: ReadonlySet<string>): ReadonlySet<string> {
  const middle = (ready.length - 1) / 2;
  const waiting = ready
    .map((id, index) => ({ id, distance: Math.abs(index - middle) }))
    .filter(({ id }) => !rendered.has(id));
  if (waiting.length <= ROWS_PER_FRAME) return NONE;
  return new Set(
    waiting
      .toSorted((a, b) => a.distance - b.distance)
      .slice(ROWS_PER_FRAME)
      .map(({ id }) => id),
  );
}
