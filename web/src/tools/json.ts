/** Helpers for JSON values of unknown shape. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The own member with that name; inherited members such as `constructor` are ignored. */
export const member = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Parses JSON; returns undefined if the text is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text as it is, other values as JSON; an empty string if the value is nested too deeply. */
export function stringify(value: unknown, indent?: number): string {
  try {
    return typeof value === "string" ? value : (JSON.stringify(value, null, indent) ?? "");
  } catch {
    return "";
  }
}
