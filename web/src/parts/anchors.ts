/** Element ids of messages and parts. */
import type { PartPlace } from "../context/renderContext";

/** The id of the element of a part; without a path, of the message. */
export const anchorOf = (messageId: string, path?: string): string =>
  path ? `part-${messageId}-${path}` : `message-${messageId}`;

export const samePlace = (one: PartPlace, other: PartPlace): boolean =>
  one.messageId === other.messageId && one.path === other.path && one.threadId === other.threadId;
