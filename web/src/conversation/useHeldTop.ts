/** Keeps the message at the top of the list there when other messages are displayed. */
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useLayoutEffect, useRef } from "react";
import { type Entry, messageOf } from "./entries";

interface Options {
  readonly list: Virtualizer<HTMLElement, HTMLElement>;
  readonly entries: readonly Entry[];
  readonly indexOf: (messageId: string) => number;
  /** Changes when other messages are displayed by choice. */
  readonly view: unknown;
  /** The list does not follow its end. */
  readonly isHeld: boolean;
  readonly scroller: RefObject<HTMLElement | null>;
}

/** Frames in which rows may still be measured. */
const FRAMES = 4;

export function useHeldTop({ list, entries, indexOf, view, isHeld, scroller }: Options): void {
  const previous = useRef({ view, entries });
  const top = useRef<{ readonly ids: readonly string[]; readonly offset: number } | null>(null);
  if (previous.current.view !== view && isHeld)
    top.current = topOf(scroller.current, previous.current.entries);
  previous.current = { view, entries };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view, which has rendered
  useLayoutEffect(() => {
    const held = top.current;
    top.current = null;
    const index = held ? (held.ids.map(indexOf).find((one) => one >= 0) ?? -1) : -1;
    if (!held || index < 0) return;
    list.scrollToOffset((list.measurementsCache[index]?.start ?? 0) - held.offset);
    let left = FRAMES;
    const correct = () => {
      const row = scroller.current?.querySelector(`[data-index="${index}"]`);
      const area = scroller.current?.getBoundingClientRect();
      const moved = row && area ? row.getBoundingClientRect().top - area.top - held.offset : 0;
      if (Math.abs(moved) > 1) list.scrollToOffset((list.scrollOffset ?? 0) + moved);
      left -= 1;
      if (left > 0) frame = requestAnimationFrame(correct);
    };
    let frame = requestAnimationFrame(correct);
    return () => cancelAnimationFrame(frame);
  }, [view]);
}

/** The messages from the top of the visible area on backwards, and where the first one is. */
function topOf(scroller: HTMLElement | null, entries: readonly Entry[]) {
  if (!scroller) return null;
  const area = scroller.getBoundingClientRect();
  const rows = [...scroller.querySelectorAll<HTMLElement>("[data-index]")].map((row) => ({
    index: Number(row.dataset.index),
    box: row.getBoundingClientRect(),
  }));
  rows.sort((a, b) => a.index - b.index);
  // Where a message begins, because its height may change.
  const begins = ({ box }: (typeof rows)[number]) =>
    box.top >= area.top - 1 && box.top < area.top + area.height / 3;
  const first = rows.find(begins) ?? rows.find(({ box }) => box.bottom > area.top + 1);
  if (!first) return null;
  const before = entries.slice(0, first.index + 1).reverse();
  return { ids: before.map(messageOf), offset: first.box.top - area.top };
}
