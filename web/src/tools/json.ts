/** Looking into JSON that may be anything. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The member of that name; what every object inherits is none. */
export const member = (holder: JsonObject, name: string): unknown =>
  Object.hasOwn(holder, name) ? holder[name] : undefined;

/** The first of these members that is a text with something in it. */
export function firstText(holder: unknown, ...names: readonly string[]): string {
  if (!isObject(holder)) return "";
  for (const name of names) {
    const value = member(holder, name);
    if (typeof value === "string" && value.trim()) return value;
  }
  return "";
}

/** The objects in an array; none when it is no array. */
export const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The texts in an array; none when it is no array. */
export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

/** The number, if it is a whole one. */
export const wholeNumber = (value: unknown): number | undefined =>
  Number.isInteger(value) ? (value as number) : undefined;

/** The value of a text that is JSON; undefined when it is not. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value as JSON, for the clipboard and for one line; nothing when it is too deep to be written. */
export function written(value: unknown, indent?: number): string {
  try {
    return typeof value === "string" ? value : (JSON.stringify(value, null, indent) ?? "");
  } catch {
    return "";
  }
}

/** The beginning of a text on one line. */
export function oneLine(text: string, most = 200): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
