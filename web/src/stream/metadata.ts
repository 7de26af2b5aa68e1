/** Metadata merging, as the AI SDK does it. */

type Fields = Record<string, unknown>;

const UNSAFE = new Set(["__proto__", "constructor", "prototype"]);

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `update` merged into `base`: objects deeply, all else replaced. The first value is taken as is. */
export function mergeMetadata(base: unknown, update: unknown): unknown {
  return base === undefined || base === null ? update : merge(base, update);
}

function merge(base: unknown, update: unknown): Fields {
  const result: Fields = { ...(base as Fields) };
  for (const [key, value] of Object.entries(update as Fields)) {
    if (UNSAFE.has(key)) continue;
    if (typeof base !== "object")
      throw new Misfit("metadata is not an object, so nothing can be merged into it");
    const old = Object.hasOwn(result, key) ? result[key] : undefined;
    result[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return result;
}

/** A chunk that does not fit the message so far. It changes nothing. */
export class Misfit extends Error {}
