/** Whether the outline of a session is open: docked on a wide screen, else over the messages. */
import { useCallback, useState, useSyncExternalStore } from "react";
import { useCommands } from "../ui/commands";
import { usePreference } from "../ui/preferences";

const WIDE = typeof window === "undefined" ? null : window.matchMedia("(min-width: 1200px)");
/** A session with so many questions is long. */
export const MANY_QUESTIONS = 3;

export interface OutlinePane {
  readonly isOpen: boolean;
  /** It is beside the messages. */
  readonly isDocked: boolean;
  readonly toggle: () => void;
  readonly close: () => void;
}

/** In a long session it is open at first. `long` is undefined while the session is loading. */
export function useOutlinePane(long: (() => boolean) | undefined): OutlinePane {
  const isDocked = useSyncExternalStore(subscribe, () => WIDE?.matches ?? false);
  const [chosen, choose] = usePreference("outline");
  const [isOver, setOver] = useState(false);
  // Decided once: it must not appear while the user reads or writes.
  const [isLong, setLong] = useState<boolean | null>(null);
  if (isLong === null && long) setLong(long());
  const isOpen = isDocked ? chosen === "open" || (chosen === "auto" && isLong === true) : isOver;
  const set = useCallback(
    (open: boolean) => (isDocked ? choose(open ? "open" : "closed") : setOver(open)),
    [isDocked, choose],
  );
  const toggle = useCallback(() => set(!isOpen), [set, isOpen]);
  const close = useCallback(() => set(false), [set]);
  useCommands([{ what: isOpen ? "Hide the outline" : "Show the outline", group: "Session", run: toggle }]);
  return { isOpen, isDocked, toggle, close };
}

function subscribe(changed: () => void): () => void {
  WIDE?.addEventListener("change", changed);
  return () => WIDE?.removeEventListener("change", changed);
}
