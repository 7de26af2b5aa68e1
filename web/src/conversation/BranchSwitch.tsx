import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../ui/Button";
import styles from "./BranchSwitch.module.css";

interface Props {
  readonly messageId: string;
  readonly siblings: readonly string[];
  readonly onChoose: (messageId: string) => void;
}

/** ‹ 2 of 3 ›: switches between the branches that start at this message. */
export function BranchSwitch({ messageId, siblings, onChoose }: Props) {
  const index = siblings.indexOf(messageId);
  const previous = siblings[index - 1];
  const next = siblings[index + 1];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <span className={styles.branches} role="group" aria-label="Branches" data-branches>
      <IconButton
        label="Previous branch"
        disabled={previous === undefined}
        onClick={() => previous !== undefined && onChoose(previous)}
      >
        <ChevronLeft size={14} />
      </IconButton>
      <span>
        {index + 1} of {siblings.length}
      </span>
      <IconButton
        label="Next branch"
        disabled={next === undefined}
        onClick={() => next !== undefined && onChoose(next)}
      >
        <ChevronRight size={14} />
      </IconButton>
    </span>
  );
}
