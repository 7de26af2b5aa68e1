/** How a message or a part is found on the page. */
import type { PartPlace } from "../viewing/viewing";

/** The id of the element that shows it; without a path, that of the message. */
export const anchorOf = (messageId: string, path?: string): string =>
  path ? `part-${messageId}-${path}` : `message-${messageId}`;

/** Whether the place that somebody asked for is at this one or inside it. */
export function holds(place: PartPlace, target: Omit<PartPlace, "threadId"> | undefined): boolean {
  if (target?.messageId !== place.messageId) return false;
  return !place.path || target.path === place.path || target.path.startsWith(`${place.path}.`);
}

export const samePlace = (one: PartPlace, other: PartPlace): boolean =>
  one.messageId === other.messageId && one.path === other.path && one.threadId === other.threadId;
