/** Going to a message and being there: it is scrolled to, found once it is drawn, and shines for a moment. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { anchorOf } from "../parts/anchors";
import type { Row } from "./rows";

interface Goal {
  readonly message: string;
  readonly part: string | null;
  readonly shines: boolean;
  /** After so many tries a part that is not to be found is given up. */
  tries: number;
}

export interface Arrival {
  /** The message that shines. */
  readonly shining: string | null;
  readonly show: (message: string, part: string | null, shines: boolean) => void;
}

/** A message that was gone to stands so many pixels below the edge: what it measures does not move it then. */
export const ROOM_ABOVE = 8;
const SHINES = 2000;
const TRIES = 40;

/** Rows above may have come and been measured on the way. */
function align(row: HTMLElement, scroller: HTMLElement | null): void {
  if (!scroller) return;
  const off = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ROOM_ABOVE;
  if (Math.abs(off) > 1) scroller.scrollTop += off;
}

export function useArrival(
  list: Virtualizer<HTMLElement, HTMLElement>,
  rows: readonly Row[],
  scroller: RefObject<HTMLElement | null>,
  target: { readonly message: string; readonly part: string | null } | null,
  leaveEnd: () => void,
): Arrival {
  const goal = useRef<Goal | null>(null);
  const [shining, setShining] = useState<string | null>(null);
  const [, look] = useState(0);

  const show = (message: string, part: string | null, shines: boolean) => {
    const index = rows.findIndex((row) => row.id === message);
    if (index < 0) return;
    goal.current = { message, part, shines, tries: TRIES };
    leaveEnd();
    list.scrollToIndex(index, { align: "start" });
    look((was) => was + 1);
  };
  const showNow = useRef(show);
  showNow.current = show;

  // Where it opens, and where the address leads later.
  const wanted = target?.message;
  const part = target?.part ?? null;
  const isThere = useMemo(
    () => wanted !== undefined && rows.some((row) => row.id === wanted),
    [wanted, rows],
  );
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (wanted !== undefined && isThere) showNow.current(wanted, part, true);
    else if (!opened.current) list.scrollToEnd();
    opened.current = true;
  }, [list, wanted, part, isThere]);

  // Whoever scrolls has the word.
  useEffect(() => {
    const element = scroller.current;
    const giveUp = () => {
      goal.current = null;
    };
    element?.addEventListener("wheel", giveUp, { passive: true });
    element?.addEventListener("touchmove", giveUp, { passive: true });
    return () => {
      element?.removeEventListener("wheel", giveUp);
      element?.removeEventListener("touchmove", giveUp);
    };
  }, [scroller]);

  // Looked for whenever something is drawn, until it is there.
  useEffect(() => {
    const sought = goal.current;
    if (!sought) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-message="${CSS.escape(sought.message)}"]`,
    );
    const element = sought.part ? document.getElementById(anchorOf(sought.message, sought.part)) : row;
    if (!row || (!element && --sought.tries > 0)) {
      const frame = row ? requestAnimationFrame(() => look((was) => was + 1)) : 0;
      return () => cancelAnimationFrame(frame);
    }
    goal.current = null;
    if (sought.part) element?.scrollIntoView({ block: "center" });
    else align(row, scroller.current);
    row.focus({ preventScroll: true });
    if (sought.shines) setShining(sought.message);
  });

  useEffect(() => {
    if (shining === null) return;
    const timer = setTimeout(() => setShining(null), SHINES);
    return () => clearTimeout(timer);
  }, [shining]);

  return { shining, show };
}
