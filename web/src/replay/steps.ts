/** Steps along a run. */
import type { KeyboardEvent } from "react";

export type Walk = "start" | "end" | "event-back" | "event-on" | "part-back" | "part-on";

/** Where a step leads: how many events have come there. `parts` are the places where parts have just begun. */
export function stepped(walk: Walk, place: number, events: number, parts: readonly number[]): number {
  switch (walk) {
    case "start":
      return 0;
    case "end":
      return events;
    case "event-back":
      return Math.max(place - 1, 0);
    case "event-on":
      return Math.min(place + 1, events);
    case "part-back":
      return parts.findLast((part) => part < place) ?? 0;
    case "part-on":
      return parts.find((part) => part > place) ?? events;
  }
}

/** The step that a key means. */
export function walkOf(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">,
): Walk | null {
  if (event.altKey || event.ctrlKey || event.metaKey) return null;
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowDown":
      return event.shiftKey ? "part-back" : "event-back";
    case "ArrowRight":
    case "ArrowUp":
      return event.shiftKey ? "part-on" : "event-on";
    case "Home":
      return "start";
    case "End":
      return "end";
    default:
      return null;
  }
}
