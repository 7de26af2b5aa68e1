/** The keyboard shortcuts of a conversation. */
import type { RefObject } from "react";
import { useRef } from "react";
import { type Command, useCommands } from "../ui/commands";
import { setPreference } from "../ui/preferences";
import type { ListControl } from "./MessageList";
import type { StopKind } from "./useStops";

interface Options {
  readonly list: RefObject<ListControl | null>;
  readonly selected: string | null;
  readonly copyLink: (messageId: string) => void;
  readonly showRaw: (messageId: string) => void;
  readonly setFolds: (folds: { readonly open: boolean }) => void;
  readonly find: () => void;
  /** Goes to the next or previous question, error, edit or sub-agent. */
  readonly toStop: (kind: StopKind, by: 1 | -1) => void;
}

const STOPS = [
  ["question", "n", "p", "question"],
  ["error", "e", "E", "error"],
  ["edit", "d", "D", "edit"],
  ["agent", "a", "A", "sub-agent"],
] as const;

const DETAIL_KEYS = [
  { keys: "1", what: "Focused: questions and final responses", detail: "focused" },
  { keys: "2", what: "Normal: calls in groups", detail: "normal" },
  { keys: "3", what: "Everything: every call and event", detail: "everything" },
] as const;

export function useKeys({ list, selected, copyLink, showRaw, setFolds, find, toStop }: Options): void {
  const isOpen = useRef(false);
  const step = (by: 1 | -1) => list.current?.step(by);
  useCommands([
    { keys: "j", what: "Next message", group: "Session", run: () => step(1) },
    { keys: "k", what: "Previous message", group: "Session", run: () => step(-1) },
    ...STOPS.flatMap(([kind, next, previous, name]): readonly Command[] => [
      { keys: next, what: `Next ${name}`, group: "Session", run: () => toStop(kind, 1) },
      { keys: previous, what: `Previous ${name}`, group: "Session", run: () => toStop(kind, -1) },
    ]),
    ...DETAIL_KEYS.map(({ keys, what, detail }) => ({
      keys,
      what,
      group: "Session" as const,
      run: () => setPreference("detail", detail),
    })),
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
