/** The marks of a minimap: where questions, errors, edits, sub-agents and matches are. */

export type MarkKind = "match" | "question" | "edit" | "agent" | "error";

export interface Mark {
  readonly kind: MarkKind;
  readonly messageId: string;
  readonly part: string | null;
}

/** Where a message is in the scrolled content, in pixels. */
export interface Extent {
  readonly start: number;
  readonly size: number;
}

/** The centre of a mark, in pixels from the top left of the strip. */
export interface PlacedMark {
  readonly mark: Mark;
  readonly x: number;
  readonly y: number;
}

export const WIDTH = 18;

/** Each kind has its own lane and shape, so that they do not differ by colour alone. */
const LANES: Readonly<Record<MarkKind, number>> = {
  question: 3,
  error: 7.5,
  edit: 11.5,
  agent: 15,
  match: 9,
};

const SHAPES: Readonly<Record<MarkKind, (y: number) => string>> = {
  match: (y) => `M0 ${y - 1}h${WIDTH}v1.5H0Z`,
  question: (y) => `M0.5 ${y - 1}h5v2h-5Z`,
  edit: (y) => `M10 ${y - 1.5}h3v3h-3Z`,
  agent: (y) => `M13 ${y}a2 2 0 1 0 4 0a2 2 0 1 0-4 0Z`,
  error: (y) => `M7.5 ${y - 3}l3 3l-3 3l-3-3Z`,
};

/** Marks of a kind that are closer than this are one. */
const MIN_DISTANCE = 2;

/** The marks on a strip. Marks of the same message are spread over it; `total` is the height of the content. */
export function placeMarks(
  marks: readonly Mark[],
  extentOf: (messageId: string) => Extent | null,
  total: number,
  height: number,
): readonly PlacedMark[] {
  const perMessage = new Map<string, number>();
  for (const { messageId } of marks) perMessage.set(messageId, (perMessage.get(messageId) ?? 0) + 1);
  const before = new Map<string, number>();
  const last = new Map<MarkKind, number>();
  return marks.flatMap((mark) => {
    const at = before.get(mark.messageId) ?? 0;
    before.set(mark.messageId, at + 1);
    const extent = extentOf(mark.messageId);
    if (!extent || total <= 0) return [];
    const offset = extent.start + (extent.size * at) / (perMessage.get(mark.messageId) ?? 1);
    const y = Math.round(Math.max(3, Math.min((offset / total) * height, height - 3)));
    const previous = last.get(mark.kind);
    if (previous !== undefined && Math.abs(y - previous) < MIN_DISTANCE) return [];
    last.set(mark.kind, y);
    return [{ mark, x: LANES[mark.kind], y }];
  });
}

/** The outline of all marks of a kind, as an SVG path. */
export const pathOf = (placed: readonly PlacedMark[], kind: MarkKind): string =>
  placed.flatMap(({ mark, y }) => (mark.kind === kind ? SHAPES[kind](y) : [])).join("");

/** How far from a mark a click still means it. */
const REACH = 4;

/** The mark at a point; null if there is none near it. */
export function markAt(placed: readonly PlacedMark[], x: number, y: number): Mark | null {
  const near = placed
    .filter((one) => Math.abs(one.y - y) <= REACH)
    .map(({ mark, ...at }) => ({
      mark,
      distance: Math.abs(at.y - y) + (mark.kind === "match" ? 0 : Math.abs(at.x - x) / 2),
    }));
  return near.sort((a, b) => a.distance - b.distance)[0]?.mark ?? null;
}

/** The visible window on the strip. It is not shorter than can be dragged. */
export function windowOf(
  { scrollTop, scrollHeight, clientHeight }: Pick<HTMLElement, "scrollTop" | "scrollHeight" | "clientHeight">,
  height: number,
): { readonly top: number; readonly size: number } | null {
  const hidden = scrollHeight - clientHeight;
  if (hidden <= 1 || height <= 0) return null;
  const size = Math.min(height, Math.max(MIN_WINDOW, (clientHeight / scrollHeight) * height));
  return { top: (Math.min(scrollTop, hidden) / hidden) * (height - size), size };
}

const MIN_WINDOW = 24;

/** The scroll offset at which the window starts at `top`. */
export const offsetAt = (
  top: number,
  size: number,
  { scrollHeight, clientHeight }: Pick<HTMLElement, "scrollHeight" | "clientHeight">,
  height: number,
): number => (top / Math.max(1, height - size)) * (scrollHeight - clientHeight);
