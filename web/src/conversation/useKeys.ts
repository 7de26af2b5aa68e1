/** The keyboard shortcuts of a conversation. */
import type { RefObject } from "react";
import { useRef } from "react";
import { useCommands } from "../ui/commands";
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

const isOfUser = (row: Row): boolean => row.role === "user";

export function useKeys({ list, selected, copyLink, showRaw, setFolds, find }: Options): void {
  const isOpen = useRef(false);
  const step = (by: 1 | -1, matches?: (row: Row) => boolean) => list.current?.step(by, matches);
  useCommands([
    { keys: "j", what: "Next message", group: "Session", run: () => step(1) },
    { keys: "k", what: "Previous message", group: "Session", run: () => step(-1) },
    { keys: "n", what: "Next question", group: "Session", run: () => step(1, isOfUser) },
    { keys: "p", what: "Previous question", group: "Session", run: () => step(-1, isOfUser) },
    { keys: "Home", what: "First message", group: "Session", run: () => list.current?.toStart() },
    { keys: "End", what: "Last message", group: "Session", run: () => list.current?.toEnd() },
    {
      keys: "o",
      what: "Expand or collapse everything",
      group: "Session",
      run: () => {
        isOpen.current = !isOpen.current;
        setFolds({ open: isOpen.current });
      },
    },
    {
      keys: "l",
      what: "Copy a link to the message",
      group: "Session",
      run: () => selected && copyLink(selected),
    },
    {
      keys: ".",
      what: "Raw events of the message",
      group: "Session",
      run: () => selected && showRaw(selected),
    },
    { keys: "f", what: "Find in this session", group: "Session", run: find },
  ]);
}
