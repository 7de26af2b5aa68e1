/** The heights of the rows, known before they render: they depend on the width of the title and on the tags. */
import { type RefObject, useEffect, useLayoutEffect, useMemo, useState } from "react";
import type { ThreadSummary } from "../api/threads";
import { usePreference } from "../ui/preferences";
import type { Sizes } from "./groups";
import { displayName } from "./rows";

/** In rem, as in ThreadRow.module.css and ThreadList.module.css. */
const HEIGHTS = {
  comfortable: { heading: 1.875, line: 1.1875, other: 2.125, tags: 1.375 },
  compact: { heading: 1.625, line: 1.125, other: 1.5625, tags: 1.25 },
} as const;
const TITLE = 0.8125;
/** The width of a row without its title: padding, mark, gap. */
const AROUND_TITLE = 3.75;
/** Milliseconds to wait for the font. */
const FONT_TIMEOUT = 1000;
/** Pixels by which a title must be narrower than its line. */
const TOLERANCE = 2;
/** The width of the narrowest letters in em: a title with more of them than fit is not measured. */
const NARROWEST = 0.2;

export interface RowSizes extends Sizes {
  readonly lines: (row: ThreadSummary) => 1 | 2;
}

export function useSizes(scroller: RefObject<HTMLElement | null>): RowSizes | null {
  const [density] = usePreference("density");
  const [width, setWidth] = useState<number | null>(null);
  const hasFont = useFont();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => element.clientWidth && setWidth(element.clientWidth); // 0 while it is hidden
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return useMemo(() => {
    if (width === null || !hasFont) return null;
    const rem = remInPixels();
    const measure = textMeasure(titleFont());
    const room = width - AROUND_TITLE * rem - TOLERANCE;
    const { heading, line, other, tags } = HEIGHTS[density];
    const most = room / (NARROWEST * TITLE * rem);
    const lines = (row: ThreadSummary): 1 | 2 => {
      const title = displayName(row);
      return title.length > most || measure(title) > room ? 2 : 1;
    };
    return {
      heading: Math.round(heading * rem),
      lines,
      row: (row) => Math.round((line * lines(row) + other + (row.tags?.length ? tags : 0)) * rem),
    };
  }, [width, density, hasFont]);
}

const rootStyle = () => getComputedStyle(document.documentElement);
const remInPixels = (): number => Number.parseFloat(rootStyle().fontSize) || 16;
export const titleFont = (): string =>
  `500 ${TITLE * remInPixels()}px ${rootStyle().getPropertyValue("--font") || "sans-serif"}`;

/** Whether the font of the titles is loaded, or takes too long: rows do not change their heights later. */
function useFont(): boolean {
  const [isLoaded, setLoaded] = useState(() => document.fonts.check(titleFont()));
  useEffect(() => {
    const loaded = () => setLoaded(true);
    document.fonts.load(titleFont()).then(loaded, loaded);
    const timer = setTimeout(loaded, FONT_TIMEOUT);
    return () => clearTimeout(timer);
  }, []);
  return isLoaded;
}

/** Measures the widths of texts in a font. */
function textMeasure(font: string): (text: string) => number {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map<string, number>();
  if (context) context.font = font;
  return (text) => {
    const found = known.get(text) ?? context?.measureText(text).width ?? 0;
    known.set(text, found);
    return found;
  };
}
