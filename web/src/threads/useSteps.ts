/** The keys of the next and the previous session. */
import type { RefObject } from "react";
import { useCommands } from "../ui/commands";
import { go, toThread } from "../ui/routing";

interface Options {
  /** The sessions in the order of the list. */
  readonly ids: readonly string[];
  readonly current: string | undefined;
  readonly focus: (id: string | undefined) => void;
  /** Moves the focus in the list, while no session is open. */
  readonly step: (by: number) => void;
  readonly scroller: RefObject<HTMLElement | null>;
}

/** While a session is open, they open another one. The focus stays in the list if it is there. */
export function useSteps({ ids, current, focus, step, scroller }: Options): void {
  const move = (by: number) => {
    if (current === undefined) {
      step(by);
      return;
    }
    const id = ids[ids.indexOf(current) + by];
    if (id === undefined) return;
    const isInList = scroller.current?.contains(document.activeElement);
    go(toThread(id));
    if (isInList) focus(id);
    else document.getElementById("main")?.focus({ preventScroll: true });
  };
  useCommands([
    { keys: "J", what: "Next session in the list", group: "Sessions", run: () => move(1) },
    { keys: "K", what: "Previous session in the list", group: "Sessions", run: () => move(-1) },
  ]);
}
