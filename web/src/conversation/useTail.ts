/** The last stored messages of the displayed branch, as far as they are cached. */
import { useRef, useSyncExternalStore } from "react";
import type { Outline } from "../api/messages";
import type { Message } from "../partita.gen";
import type { MessageCache } from "./cache";

export const TAIL_LENGTH = 50;

/** Returns the same list until one of its messages changes. */
export function useTail(cache: MessageCache, outline: Outline | undefined): readonly Message[] {
  useSyncExternalStore(cache.subscribe, cache.version);
  const previous = useRef<readonly Message[]>([]);
  const rows = outline?.complete || outline?.opensAtEnd ? outline.rows : []; // else its rows are the first ones
  const tail = rows.slice(-TAIL_LENGTH).flatMap(({ id }) => cache.get(id) ?? []);
  const isSame =
    tail.length === previous.current.length &&
    tail.every((message, index) => message === previous.current[index]);
  if (!isSame) previous.current = tail;
  return previous.current;
}
