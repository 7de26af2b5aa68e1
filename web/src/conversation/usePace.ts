/** While the list runs, a few rows are drawn in each frame: all that came at once would hold it up. */
import { useLayoutEffect, useRef, useState } from "react";

const FEW = 3;
const NONE: ReadonlySet<string> = new Set();

/** Of the rows that can be drawn, from the first to the last: those whose turn has not come yet. */
export function usePace(coming: readonly string[], isRunning: boolean): ReadonlySet<string> {
  const drawn = useRef<ReadonlySet<string> | null>(null); // null until something was: what opens is drawn at once
  const [, again] = useState(0);
  const late = isRunning && drawn.current ? lateOf(coming, drawn.current) : NONE;
  useLayoutEffect(() => {
    if (coming.length || drawn.current) drawn.current = new Set(coming.filter((id) => !late.has(id)));
    if (!late.size) return;
    const frame = requestAnimationFrame(() => again((was) => was + 1));
    return () => cancelAnimationFrame(frame);
  });
  return late;
}

/** All but a few of those that are not drawn yet; the few are those nearest to the middle. */
export function lateOf(coming: readonly string[], drawn: ReadonlySet<string>): ReadonlySet<string> {
  const middle = (coming.length - 1) / 2;
  const fresh = coming
    .map((id, index) => ({ id, off: Math.abs(index - middle) }))
    .filter(({ id }) => !drawn.has(id));
  if (fresh.length <= FEW) return NONE;
  return new Set(
    fresh
      .toSorted((one, other) => one.off - other.off)
      .slice(FEW)
      .map(({ id }) => id),
  );
}
