/** Merges metadata like the AI SDK. */

type Fields = Record<string, unknown>;

const UNSAFE = new Set(["__proto__", "constructor", "prototype"]);

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Merges `update` into `base`: objects deeply, other values are replaced. The first value is used unchanged. */
export function mergeMetadata(base: unknown, update: unknown): unknown {
  return base === undefined || base === null ? update : merge(base, update);
}

function merge(base: unknown, update: unknown): Fields {
  const result: Fields = { ...(base as Fields) };
  for (const [key, value] of Object.entries(update as Fields)) {
    if (UNSAFE.has(key)) continue;
    if (typeof base !== "object")
      throw new InvalidChunkError("metadata is not an object, so that nothing can be merged into it");
    const old = Object.hasOwn(result, key) ? result[key] : undefined;
    result[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return result;
}

/** A chunk that is invalid at this point of the message. It changes nothing. */
export class InvalidChunkError extends Error {}
