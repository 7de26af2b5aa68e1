/** The places of the groups and items of a treemap. */
import { type Rect, splitSmall, squarify } from "./squarify";

/** A rectangle with a name, which is a link. */
export interface TreeItem {
  readonly key: string;
  readonly name: string;
  readonly value: number;
  readonly href: string;
  /** What the link does: `Show its sessions`. */
  readonly action: string;
}

export interface TreeGroup extends TreeItem {
  readonly colour: number;
  readonly items: readonly TreeItem[];
}

/** Describes the items that are too small to be drawn. */
export type Others = (items: readonly TreeItem[], group?: TreeGroup) => TreeItem;

export interface Placed {
  readonly item: TreeItem;
  readonly rect: Rect;
  readonly colour: number;
  readonly isGroup: boolean;
}

export const HEAD = 21;
const GAP = 2;
/** Square pixels of the smallest group and the smallest item. */
const LEAST_GROUP = 2600;
const LEAST_ITEM = 1300;
/** The smallest group whose items are drawn. */
const SPLIT = { width: 70, height: 64 };

/** The groups with their items, the largest first. Small groups and items are combined. */
export function layOut(groups: readonly TreeGroup[], within: Rect, others: Others, last: number): Placed[] {
  const [large, small] = splitSmall(groups, within.width * within.height, LEAST_GROUP);
  const rest: TreeGroup[] = small.length ? [{ ...others(small), colour: last, items: [] }] : [];
  const all = [...large, ...rest].sort((first, second) => second.value - first.value);
  const rects = squarify(
    all.map(({ value }) => value),
    within,
  );
  return all.flatMap((group, index) => placeGroup(group, inset(rects[index] ?? within), others));
}

function placeGroup(group: TreeGroup, rect: Rect, others: Others): Placed[] {
  const isSplit = group.items.length > 0 && rect.width >= SPLIT.width && rect.height >= SPLIT.height;
  const head: Placed = { item: group, rect, colour: group.colour, isGroup: true };
  if (!isSplit) return [head];
  const inner = { ...rect, y: rect.y + HEAD, height: rect.height - HEAD };
  return [head, ...placeItems(group.items, inner, group.colour, (items) => others(items, group))];
}

/** The items of one group. */
export function placeItems(
  items: readonly TreeItem[],
  within: Rect,
  colour: number,
  others: (items: readonly TreeItem[]) => TreeItem,
): Placed[] {
  const [large, small] = splitSmall(items, within.width * within.height, LEAST_ITEM);
  const all = [...large, ...(small.length ? [others(small)] : [])].sort(
    (first, second) => second.value - first.value,
  );
  const rects = squarify(
    all.map(({ value }) => value),
    within,
  );
  return all.map((item, index) => ({ item, rect: inset(rects[index] ?? within), colour, isGroup: false }));
}

const inset = ({ x, y, width, height }: Rect): Rect => ({
  x,
  y,
  width: Math.max(1, width - GAP),
  height: Math.max(1, height - GAP),
});
