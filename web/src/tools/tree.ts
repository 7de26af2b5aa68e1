/** Flattens a JSON value into rows. */
import { isObject, type JsonObject } from "./json";

export const PAGE = 100;
export const MAX_STRING = 300;
const MAX_AUTO_OPENED = 400; // rows that are expanded automatically

type Container = readonly unknown[] | JsonObject;

export interface TreeRow {
  readonly depth: number;
  readonly name: string | number | null;
  readonly value: unknown;
  readonly kind: "container" | "leaf" | "more";
  readonly isOpen: boolean;
  /** Of a container, its number of members; of `more`, the number of hidden members. */
  readonly count: number;
  readonly parent: Container | null;
}

/** The containers that the user has expanded or collapsed, and the visible pages of each. */
export interface TreeState {
  readonly containers: ReadonlyMap<object, boolean>;
  readonly pages: ReadonlyMap<object, number>;
}

export const isContainer = (value: unknown): value is Container => Array.isArray(value) || isObject(value);

const sizeOf = (container: Container): number =>
  Array.isArray(container) ? container.length : Object.keys(container).length;

type PendingRow = Pick<TreeRow, "depth" | "name" | "value" | "parent"> & { readonly more?: number };

/**
 * The visible rows. The first `levels` levels are expanded by default. The value itself has no row if it has members:
 * they are the first level.
 */
export function treeRows(value: unknown, levels: number, { containers, pages }: TreeState): TreeRow[] {
  const rows: TreeRow[] = [];
  const pending: PendingRow[] =
    isContainer(value) && sizeOf(value) > 0
      ? members(value, 0, pages.get(value) ?? 1, sizeOf(value)).reverse()
      : [{ depth: 0, name: null, value, parent: null }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { more, ...row } = next;
    if (more !== undefined) {
      rows.push({ ...row, kind: "more", isOpen: false, count: more });
    } else if (!isContainer(row.value)) {
      rows.push({ ...row, kind: "leaf", isOpen: false, count: 0 });
    } else {
      const count = sizeOf(row.value);
      const isAutoOpen = row.depth + 1 < levels && rows.length < MAX_AUTO_OPENED && count > 0;
      const isOpen = count > 0 && (containers.get(row.value) ?? isAutoOpen);
      rows.push({ ...row, kind: "container", isOpen, count });
      if (isOpen)
        pending.push(...members(row.value, row.depth + 1, pages.get(row.value) ?? 1, count).reverse());
    }
  }
  return rows;
}

function members(container: Container, depth: number, pages: number, count: number): PendingRow[] {
  const shown = Math.min(count, pages * PAGE);
  const found: PendingRow[] = Array.isArray(container)
    ? container.slice(0, shown).map((value, name) => ({ depth, name, value, parent: container }))
    : Object.entries(container)
        .slice(0, shown)
        .map(([name, value]) => ({ depth, name, value, parent: container }));
  if (shown < count) found.push({ depth, name: null, value: null, parent: container, more: count - shown });
  return found;
}

/** A word in a tree: the row that contains it, its number in the row, and where it ends in the value. */
export interface SoughtRow {
  readonly parent: Container | null;
  readonly name: string | number | null;
  readonly at: number;
  readonly end: number;
}

/** A container above a row, and the index in it. A linked list: values can be deep. */
interface Above {
  readonly container: Container;
  readonly index: number;
  readonly next: Above | null;
}

interface Member extends Pick<TreeRow, "name" | "value" | "parent"> {
  readonly above: Above | null;
}

/** The row with an occurrence and the state in which it is visible; if there are fewer, how many there are. */
export function seekRow(
  value: unknown,
  state: TreeState,
  { pattern, number }: { readonly pattern: RegExp; readonly number: number },
): { readonly row: SoughtRow; readonly state: TreeState } | number {
  let count = 0;
  for (const { name, value: one, parent, above } of membersOf(value)) {
    const label = name === null ? "" : `${name}:`;
    const found = [...`${label}${isContainer(one) ? "" : String(one)}`.matchAll(pattern)];
    const match = found[number - count];
    if (match) {
      const end = match.index + match[0].length - label.length;
      return { row: { parent, name, at: number - count, end }, state: opened(state, above) };
    }
    count += found.length;
  }
  return count;
}

/** All rows in the order in which they are displayed. */
function* membersOf(value: unknown): Generator<Member> {
  const pending: Member[] = [{ name: null, value, parent: null, above: null }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value: container, above } = next;
    const isRoot = next.parent === null;
    if (!isContainer(container)) {
      yield next;
      continue;
    }
    if (!isRoot) yield next;
    const entries: [string | number, unknown][] = Array.isArray(container)
      ? container.map((one, index) => [index, one])
      : Object.entries(container);
    const inside = entries.map(([name, one], index) => ({
      name,
      value: one,
      parent: container,
      above: { container, index, next: above },
    }));
    pending.push(...inside.reverse());
  }
}

/** The state with some containers expanded up to an index in each. The same object if they are already. */
function opened(state: TreeState, above: Above | null): TreeState {
  const containers = new Map(state.containers);
  const pages = new Map(state.pages);
  let isChanged = false;
  for (let at = above; at; at = at.next) {
    const { container, index } = at;
    const needed = Math.floor(index / PAGE) + 1;
    if (containers.get(container) !== true || (pages.get(container) ?? 1) < needed) isChanged = true;
    containers.set(container, true);
    pages.set(container, Math.max(pages.get(container) ?? 1, needed));
  }
  return isChanged ? { containers, pages } : state;
}
