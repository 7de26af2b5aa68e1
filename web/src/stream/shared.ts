/** Structural sharing: what is equal to what was there before is what was there before. */

/** `next`, with every part of it that equals the same part of `before` replaced by that. */
export function shared<T>(before: unknown, next: T): T {
  if (Object.is(before, next)) return next;
  if (Array.isArray(before) && Array.isArray(next)) return sharedList(before, next) as T;
  if (isRecord(before) && isRecord(next)) return sharedRecord(before, next) as T;
  return next;
}

function sharedList(before: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  const items = next.map((item, index) => shared(before[index], item));
  const isSame =
    items.length === before.length && items.every((item, index) => Object.is(item, before[index]));
  return isSame ? before : items;
}

function sharedRecord(before: Record<string, unknown>, next: Record<string, unknown>): object {
  const keys = Object.keys(next);
  let isSame = keys.length === Object.keys(before).length;
  const result: Record<string, unknown> = {};
  for (const key of keys) {
    const item = shared(before[key], next[key]);
    // Defined, not assigned: a key of untrusted data may be `__proto__`.
    Object.defineProperty(result, key, { value: item, enumerable: true, writable: true, configurable: true });
    if (!Object.hasOwn(before, key) || !Object.is(item, before[key])) isSame = false;
  }
  return isSame ? before : result;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
