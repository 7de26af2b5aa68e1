import { useEffect, useRef } from "react";
import { Outline } from "../outline/Outline";
import { useCommands } from "../ui/commands";
import styles from "./SessionOutline.module.css";
import type { OutlinePane } from "./useOutlinePane";
import { type Position, useCurrentMessage } from "./usePosition";
import type { Turns } from "./useTurns";

interface Props {
  readonly pane: OutlinePane;
  readonly turns: Turns;
  readonly position: Position;
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
}

const TOGGLE = "[data-outline-toggle]";

/** The outline beside the messages. On a narrow screen it is over them, and closes when it is left. */
export function SessionOutline({ pane, turns, position, folder, onShow }: Props) {
  const { isDocked, close } = pane;
  const panel = useRef<HTMLElement>(null);
  const current = useCurrentMessage(position);
  const leave = () => {
    close();
    document.querySelector<HTMLElement>(TOGGLE)?.focus();
  };
  useCommands(
    [{ keys: "Escape", what: "Close the outline", group: "Session", keysOnly: true, run: leave }],
    !isDocked,
  );
  useEffect(() => {
    if (isDocked) return;
    const element = panel.current;
    (element?.querySelector<HTMLElement>("[role=treeitem][tabindex='0']") ?? element)?.focus();
    const closeOutside = ({ target }: PointerEvent) => {
      if (target instanceof Element && !element?.contains(target) && !target.closest(TOGGLE)) close();
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isDocked, close]);
  return (
    <section
      ref={panel}
      className={styles.panel}
      data-docked={isDocked}
      aria-label="Outline of the session"
      tabIndex={-1}
    >
      <Outline
        nodes={turns.nodes}
        currentRow={turns.rowOf(current)}
        folder={folder}
        onShow={(messageId, part) => {
          if (!isDocked) close();
          onShow(messageId, part);
        }}
        onClose={leave}
      />
    </section>
  );
}
