/** The last stored messages of the branch that is shown, as far as they are at hand. */
import { useRef, useSyncExternalStore } from "react";
import type { Outline } from "../api/messages";
import type { Message } from "../partita.gen";
import type { MessageCache } from "./cache";

/** So many. */
export const TAIL = 50;

/** The very same list until one of its messages is another. */
export function useTail(cache: MessageCache, outline: Outline | undefined): readonly Message[] {
  useSyncExternalStore(cache.subscribe, cache.version);
  const before = useRef<readonly Message[]>([]);
  const tail = outline?.rows.slice(-TAIL).flatMap(({ id }) => cache.get(id) ?? []) ?? [];
  const isSame =
    tail.length === before.current.length && tail.every((one, index) => one === before.current[index]);
  if (!isSame) before.current = tail;
  return before.current;
}
