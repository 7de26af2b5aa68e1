import { useEffect, useRef } from "react";
import { useCommands } from "../ui/commands";
import type { TurnNode } from "./model";
import { Outline } from "./Outline";
import styles from "./OutlinePanel.module.css";
import type { OutlinePane } from "./useOutlinePane";

interface Props {
  readonly pane: OutlinePane;
  /** Null while they are loading. */
  readonly nodes: readonly TurnNode[] | null;
  /** The index of the message at the top of the messages. */
  readonly currentRow: number;
  readonly folder?: string;
  readonly onShow: (messageId: string, part: string | null) => void;
  /** Opens the timeline of a turn. */
  readonly onTimeline?: (node: TurnNode) => void;
}

const TOGGLE = "[data-outline-toggle]";

/** The outline beside the messages. On a narrow screen it is over them, and closes when it is left. */
export function OutlinePanel({ pane, nodes, currentRow, folder, onShow, onTimeline }: Props) {
  const { isDocked, close } = pane;
  const panel = useRef<HTMLElement>(null);
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
        nodes={nodes}
        currentRow={currentRow}
        folder={folder}
        onShow={(messageId, part) => {
          if (!isDocked) close();
          onShow(messageId, part);
        }}
        onTimeline={onTimeline}
        onClose={leave}
      />
    </section>
  );
}
