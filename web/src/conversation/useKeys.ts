/** The keyboard shortcuts of a conversation. */
import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";
import { useHotkeys } from "../ui/hotkeys";
import type { ListControl } from "./MessageList";
import type { Row } from "./rows";

interface Options {
  readonly list: RefObject<ListControl | null>;
  readonly selected: string | null;
  readonly copyLink: (messageId: string) => void;
  readonly showRaw: (messageId: string) => void;
  readonly setFolds: (folds: { readonly open: boolean }) => void;
  readonly find: () => void;
}

/** Whether the focus is outside the list of sessions, which uses the same keys. */
function useFocusOutsideSidebar(): boolean {
  const [isOutside, setOutside] = useState(true);
  useEffect(() => {
    const update = () => setOutside(document.activeElement?.closest("aside") == null);
    document.addEventListener("focusin", update);
    document.addEventListener("focusout", update);
    return () => {
      document.removeEventListener("focusin", update);
      document.removeEventListener("focusout", update);
    };
  }, []);
  return isOutside;
}

const isOfUser = (row: Row): boolean => row.role === "user";

export function useKeys({ list, selected, copyLink, showRaw, setFolds, find }: Options): void {
  const isOpen = useRef(false);
  const step = (by: 1 | -1, matches?: (row: Row) => boolean) => list.current?.step(by, matches);
  useHotkeys(
    [
      { keys: "j", what: "Next message", first: true, run: () => step(1) },
      { keys: "k", what: "Previous message", first: true, run: () => step(-1) },
      { keys: "n", what: "Next question", first: true, run: () => step(1, isOfUser) },
      { keys: "p", what: "Previous question", first: true, run: () => step(-1, isOfUser) },
      { keys: "Home", what: "First message", first: true, run: () => list.current?.toStart() },
      { keys: "End", what: "Last message", first: true, run: () => list.current?.toEnd() },
    ],
    useFocusOutsideSidebar(),
  );
  useHotkeys([
    {
      keys: "o",
      what: "Expand or collapse everything",
      run: () => {
        isOpen.current = !isOpen.current;
        setFolds({ open: isOpen.current });
      },
    },
    { keys: "l", what: "Copy a link to the message", run: () => selected && copyLink(selected) },
    { keys: ".", what: "Raw events of the message", run: () => selected && showRaw(selected) },
    { keys: "f", what: "Find in this thread", run: find },
  ]);
}
