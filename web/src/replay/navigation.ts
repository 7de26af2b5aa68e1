/** Keyboard navigation along a run. */
import type { KeyboardEvent } from "react";

export type Step = "start" | "end" | "event-back" | "event-forward" | "part-back" | "part-forward";

/** The position after a step. `parts` are the positions at which parts start. */
export function positionAfter(
  step: Step,
  position: number,
  events: number,
  parts: readonly number[],
): number {
  switch (step) {
    case "start":
      return 0;
    case "end":
      return events;
    case "event-back":
      return Math.max(position - 1, 0);
    case "event-forward":
      return Math.min(position + 1, events);
    case "part-back":
      return parts.findLast((part) => part < position) ?? 0;
    case "part-forward":
      return parts.find((part) => part > position) ?? events;
  }
}

/** The step for a key. */
export function stepForKey(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey">,
): Step | null {
  if (event.altKey || event.ctrlKey || event.metaKey) return null;
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowDown":
      return event.shiftKey ? "part-back" : "event-back";
    case "ArrowRight":
    case "ArrowUp":
      return event.shiftKey ? "part-forward" : "event-forward";
    case "Home":
      return "start";
    case "End":
      return "end";
    default:
      return null;
  }
}
