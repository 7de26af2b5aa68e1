/** Where the user is in a session: the place that was shown last, or after a scroll the message at the top. */
import { type RefObject, useEffect, useState, useSyncExternalStore } from "react";
import type { ListControl } from "./MessageList";

interface Place {
  readonly messageId: string;
  readonly part: string | null;
}

const SCROLL_KEYS = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", " "]);

export class Position {
  private shown: Place | null = null;
  private top: string | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly list: RefObject<ListControl | null>) {}

  /** The user goes to a place. Near the end of the list, it is not at the top. */
  show(place: Place): void {
    this.shown = place;
    this.update();
  }

  get(): Place | null {
    const top = this.shown ? null : (this.list.current?.top() ?? this.top);
    return this.shown ?? (top === null ? null : { messageId: top, part: null });
  }

  readonly message = (): string | null => this.top;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  /** Follows the scrolling inside an element. */
  observe(element: HTMLElement): () => void {
    let request = 0;
    const update = () => {
      cancelAnimationFrame(request);
      request = requestAnimationFrame(() => this.update());
    };
    const release = () => {
      this.shown = null;
    };
    const abort = new AbortController();
    const options = { passive: true, capture: true, signal: abort.signal }; // scroll events do not bubble
    element.addEventListener("scroll", update, options);
    for (const type of ["wheel", "touchmove", "pointerdown"] as const)
      element.addEventListener(type, release, options);
    element.addEventListener("keydown", ({ key }) => SCROLL_KEYS.has(key) && release(), options);
    update();
    return () => {
      cancelAnimationFrame(request);
      abort.abort();
    };
  }

  private update(): void {
    const top = this.get()?.messageId ?? null;
    if (top === this.top) return;
    this.top = top;
    for (const listener of this.listeners) listener();
  }
}

/** `message` and `part` are the place in the page's address. */
export function usePosition(
  frame: RefObject<HTMLElement | null>,
  list: RefObject<ListControl | null>,
  message: string | null,
  part: string | null,
): Position {
  const [position] = useState(() => new Position(list));
  useEffect(() => {
    if (message !== null) position.show({ messageId: message, part });
  }, [position, message, part]);
  useEffect(() => (frame.current ? position.observe(frame.current) : undefined), [frame, position]);
  return position;
}

/** The message where the user is. */
export const useCurrentMessage = (position: Position): string | null =>
  useSyncExternalStore(position.subscribe, position.message);
