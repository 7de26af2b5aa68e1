import type { ReactNode } from "react";
import { containsTarget, isActive, type PartPlace, useRenderContext } from "../context/renderContext";
import { useFold } from "../ui/Fold";
import styles from "./CallGroup.module.css";
import type { CallTotals } from "./callTotals";
import { GroupLine } from "./GroupLine";

/** Groups with fewer calls are not folded: they are hardly longer than the line. */
export const MIN_CALLS = 3;

interface Props {
  readonly places: readonly PartPlace[];
  readonly totals: CallTotals;
  /** It ends its message. */
  readonly isLast: boolean;
  readonly children: readonly ReactNode[];
}

/** Consecutive calls of a message: one line that expands. While the message streams, its newest part is visible. */
export function CallGroup({ places, totals, isLast, children }: Props) {
  const context = useRenderContext();
  const [isOpen, setOpen] = useFold(
    false,
    places.some((place) => containsTarget(place, context.target)),
  );
  const isRunning = isLast && isActive(context);
  return (
    <div className={styles.group} data-call-group>
      <GroupLine totals={totals} isOpen={isOpen} isRunning={isRunning} onToggle={() => setOpen(!isOpen)} />
      {isOpen ? children : isRunning ? children.at(-1) : null}
    </div>
  );
}
