/** Whether the outline of a session is open: docked on a wide screen, else over the messages. */
import { useCallback, useState, useSyncExternalStore } from "react";
import type { Outline } from "../api/messages";
import { useCommands } from "../ui/commands";
import { usePreference } from "../ui/preferences";
import { isQuestion } from "./rows";

const WIDE = typeof window === "undefined" ? null : window.matchMedia("(min-width: 1200px)");
/** From so many questions on it is open at first. */
const MANY = 3;

export interface OutlinePane {
  readonly isOpen: boolean;
  /** It is beside the messages. */
  readonly isDocked: boolean;
  readonly toggle: () => void;
  readonly close: () => void;
}

export function useOutlinePane(outline: Outline | undefined): OutlinePane {
  const isDocked = useSyncExternalStore(subscribe, () => WIDE?.matches ?? false);
  const [chosen, choose] = usePreference("outline");
  const [isOver, setOver] = useState(false);
  // Decided once: it must not appear while the user reads or writes.
  const [isLong, setLong] = useState<boolean | null>(null);
  if (isLong === null && outline) setLong(isLongSession(outline));
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

const isLongSession = ({ rows }: Outline): boolean => rows.filter(isQuestion).length >= MANY;

function subscribe(changed: () => void): () => void {
  WIDE?.addEventListener("change", changed);
  return () => WIDE?.removeEventListener("change", changed);
}
