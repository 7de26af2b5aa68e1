/** The index of the message at the top of a scrolled box. */
import { type RefObject, useEffect, useMemo, useState } from "react";

/**
 * Pixels below the top of the box: the message there is the current one. They are more than the scroll margin of
 * messages; the first ones may be between two messages.
 */
const BELOW_TOP = [80, 110, 140];
/** Milliseconds after the last scroll: by then, messages that came into view have been laid out. */
const SETTLED = 150;

export function useTopRow(
  box: RefObject<HTMLElement | null>,
  messages: readonly { readonly id: string }[],
): number {
  const [row, setRow] = useState(0);
  const rows = useMemo(() => new Map(messages.map(({ id }, index) => [id, index])), [messages]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let [request, timer] = [0, 0];
    const cancel = () => {
      cancelAnimationFrame(request);
      clearTimeout(timer);
    };
    const update = () => {
      const id = topMessage(element);
      const found = id === undefined ? undefined : rows.get(id);
      if (found !== undefined) setRow(found);
    };
    const onScroll = () => {
      cancel();
      request = requestAnimationFrame(update);
      timer = window.setTimeout(update, SETTLED);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      cancel();
      element.removeEventListener("scroll", onScroll);
    };
  }, [box, rows]);
  return row;
}

function topMessage(box: HTMLElement): string | undefined {
  const { left, top, width } = box.getBoundingClientRect();
  for (const below of BELOW_TOP) {
    const element = document.elementFromPoint(left + width / 2, top + below);
    const article = element?.closest<HTMLElement>("[data-depth='0']");
    if (article) return article.dataset.place;
  }
  return undefined;
}
