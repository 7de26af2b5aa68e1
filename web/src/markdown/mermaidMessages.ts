/** The messages between the page and the frame that renders a diagram. */

/** The request to the frame. */
export interface DiagramRequest {
  readonly source: string;
  readonly colours: Readonly<Record<string, string>>;
  readonly dark: boolean;
}

/** The response of the frame. */
export type DiagramResponse =
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

/** Validates a message of the frame, whose content is not trusted. Null if it is invalid. */
export function parseResponse(data: unknown): DiagramResponse | null {
  if (typeof data !== "object" || data === null) return null;
  const { type, height, message } = data as Record<string, unknown>;
  if (type === "ready") return { type };
  if (type === "drawn" && typeof height === "number" && Number.isFinite(height))
    return { type, height: Math.max(24, Math.min(MAX_HEIGHT, Math.ceil(height))) };
  if (type === "failed" && typeof message === "string") return { type, message: message.slice(0, 500) };
  return null;
}

/** The colours of the page at an element. */
export function coloursOf(element: Element): Record<string, string> {
  const style = getComputedStyle(element);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
