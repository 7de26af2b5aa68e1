/** The keys of a conversation. */
import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";
import { useHotkeys } from "../ui/hotkeys";
import type { ListControl } from "./MessageList";
import type { Row } from "./rows";

interface Given {
  readonly list: RefObject<ListControl | null>;
  readonly selected: string | null;
  readonly copyLink: (messageId: string) => void;
  readonly showRaw: (messageId: string) => void;
  readonly setFolds: (folds: { readonly open: boolean }) => void;
  readonly find: () => void;
}

/** Whether the focus is not in the list of sessions, which has the same keys. */
function useOutside(): boolean {
  const [isOutside, setOutside] = useState(true);
  useEffect(() => {
    const look = () => setOutside(document.activeElement?.closest("aside") == null);
    document.addEventListener("focusin", look);
    document.addEventListener("focusout", look);
    return () => {
      document.removeEventListener("focusin", look);
      document.removeEventListener("focusout", look);
    };
  }, []);
  return isOutside;
}

const isOfUser = (row: Row): boolean => row.role === "user";

export function useKeys({ list, selected, copyLink, showRaw, setFolds, find }: Given): void {
  const isOpen = useRef(false);
  const walk = (by: 1 | -1, holds?: (row: Row) => boolean) => list.current?.step(by, holds);
  useHotkeys(
    [
      { keys: "j", what: "Next message", first: true, run: () => walk(1) },
      { keys: "k", what: "Previous message", first: true, run: () => walk(-1) },
      { keys: "n", what: "Next question", first: true, run: () => walk(1, isOfUser) },
      { keys: "p", what: "Previous question", first: true, run: () => walk(-1, isOfUser) },
      { keys: "Home", what: "First message", first: true, run: () => list.current?.toStart() },
      { keys: "End", what: "Last message", first: true, run: () => list.current?.toEnd() },
    ],
    useOutside(),
  );
  useHotkeys([
    {
      keys: "o",
      what: "Open or close everything",
      run: () => {
        isOpen.current = !isOpen.current;
        setFolds({ open: isOpen.current });
      },
    },
    { keys: "l", what: "Copy a link to the message", run: () => selected && copyLink(selected) },
    { keys: ".", what: "Raw events of the message", run: () => selected && showRaw(selected) },
    { keys: "f", what: "Find in this session", run: find },
  ]);
}
