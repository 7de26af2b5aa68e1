/** What the page and the frame of a diagram say to each other. */

/** What the frame is asked to draw. */
export interface Asked {
  readonly source: string;
  readonly colours: Readonly<Record<string, string>>;
  readonly dark: boolean;
}

/** What the frame answers. */
export type Drawn =
  | { readonly type: "ready" }
  | { readonly type: "drawn"; readonly height: number }
  | { readonly type: "failed"; readonly message: string };

const MAX_HEIGHT = 3000;
const COLOURS = [
  "ground",
  "surface",
  "sunken",
  "line-strong",
  "text",
  "text-soft",
  "accent",
  "accent-wash",
  "violet-wash",
  "warn-wash",
];

/** The answer of a frame, which may have been talked into anything: bounded, or null if it is none. */
export function readDrawn(data: unknown): Drawn | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, height, message } = data as Record<string, unknown>;
  if (type === "ready") return { type };
  if (type === "drawn" && typeof height === "number" && Number.isFinite(height))
    return { type, height: Math.max(24, Math.min(MAX_HEIGHT, Math.ceil(height))) };
  if (type === "failed" && typeof message === "string") return { type, message: message.slice(0, 500) };
  return null;
}

/** The colours of the page, where this element stands. */
export function coloursOf(element: Element): Record<string, string> {
  const style = getComputedStyle(element);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
