/** The rows of a JSON value: flat, however deep it is. */
import { isObject, type JsonObject } from "./json";

export const PAGE = 100;
export const LONG_STRING = 300;
const MOST_OPENED = 400; // rows that are opened without being asked

type Holder = readonly unknown[] | JsonObject;

export interface TreeRow {
  readonly depth: number;
  readonly name: string | number | null;
  readonly value: unknown;
  readonly kind: "holder" | "leaf" | "more";
  readonly isOpen: boolean;
  /** Of a holder: how many members it has; of `more`: how many are not shown yet. */
  readonly count: number;
  readonly parent: Holder | null;
}

/** What somebody opened or closed, and how much of what is open is shown. */
export interface Opened {
  readonly holders: ReadonlyMap<object, boolean>;
  readonly pages: ReadonlyMap<object, number>;
}

export const isHolder = (value: unknown): value is Holder => Array.isArray(value) || isObject(value);

const sizeOf = (holder: Holder): number =>
  Array.isArray(holder) ? holder.length : Object.keys(holder).length;

type Waiting = Pick<TreeRow, "depth" | "name" | "value" | "parent"> & { readonly more?: number };

/** The rows in sight; `levels` are open unless somebody closed them. */
export function treeRows(value: unknown, levels: number, { holders, pages }: Opened): TreeRow[] {
  const rows: TreeRow[] = [];
  const waiting: Waiting[] = [{ depth: 0, name: null, value, parent: null }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { more, ...row } = next;
    if (more !== undefined) {
      rows.push({ ...row, kind: "more", isOpen: false, count: more });
    } else if (!isHolder(row.value)) {
      rows.push({ ...row, kind: "leaf", isOpen: false, count: 0 });
    } else {
      const count = sizeOf(row.value);
      const byItself = row.depth < levels && rows.length < MOST_OPENED && count > 0;
      const isOpen = count > 0 && (holders.get(row.value) ?? byItself);
      rows.push({ ...row, kind: "holder", isOpen, count });
      if (isOpen)
        waiting.push(...members(row.value, row.depth + 1, pages.get(row.value) ?? 1, count).reverse());
    }
  }
  return rows;
}

function members(holder: Holder, depth: number, pages: number, count: number): Waiting[] {
  const shown = Math.min(count, pages * PAGE);
  const found: Waiting[] = Array.isArray(holder)
    ? holder.slice(0, shown).map((value, name) => ({ depth, name, value, parent: holder }))
    : Object.entries(holder)
        .slice(0, shown)
        .map(([name, value]) => ({ depth, name, value, parent: holder }));
  if (shown < count) found.push({ depth, name: null, value: null, parent: holder, more: count - shown });
  return found;
}
