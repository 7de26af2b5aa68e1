/** Whether the list of sessions is beside the view, over it, or folded. */
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { usePreference } from "./preferences";
import { go, href, usePlace } from "./routing";
import { useMedia } from "./useMedia";

export const MIN_WIDTH = 240;
export const MAX_WIDTH = 560;
export const DEFAULT_WIDTH = 336;

/** The list and the view are two views of their own. */
export const NARROW = "(max-width: 760px)";
/** Beside the list, the messages of a session would have too little space. */
const MEDIUM = "(max-width: 899px)";

let isOver = false;
const listeners = new Set<() => void>();

function setOver(next: boolean): void {
  if (isOver === next) return;
  isOver = next;
  for (const listener of listeners) listener();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export interface SidebarState {
  readonly isVisible: boolean;
  /** Over the view: it is closed when a session is opened. */
  readonly isOverlay: boolean;
  readonly show: () => void;
  readonly hide: () => void;
  readonly toggle: () => void;
}

export function useSidebar(): SidebarState {
  const place = usePlace();
  const [isFolded, setFolded] = usePreference("sidebarFolded");
  const isNarrow = useMedia(NARROW);
  const isMedium = useMedia(MEDIUM);
  const isRequested = useSyncExternalStore(subscribe, () => isOver);
  const [first, id] = place.path;
  const isList = first === "sessions"; // the address asks for it
  const hasNoSpace = isMedium && !isNarrow && (first === "t" || first === "new");
  const isOverlay = hasNoSpace && isRequested;
  const isVisible = isNarrow || isList || isOverlay || (!hasNoSpace && !isFolded);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session was opened, or there is more space
  useEffect(() => setOver(false), [first, id, hasNoSpace]);
  const show = useCallback(() => {
    if (hasNoSpace) setOver(true);
    else setFolded(false);
  }, [hasNoSpace, setFolded]);
  const hide = useCallback(() => {
    if (hasNoSpace) setOver(false);
    else setFolded(true);
    if (isList) go(href([]));
  }, [hasNoSpace, isList, setFolded]);
  return { isVisible, isOverlay, show, hide, toggle: isVisible ? hide : show };
}
