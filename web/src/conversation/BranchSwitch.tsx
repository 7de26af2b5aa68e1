import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../ui/Button";
import styles from "./BranchSwitch.module.css";

interface Props {
  readonly messageId: string;
  readonly siblings: readonly string[];
  readonly onChoose: (messageId: string) => void;
}

/** ‹ 2 of 3 ›: the other branches that begin where this message stands. */
export function BranchSwitch({ messageId, siblings, onChoose }: Props) {
  const place = siblings.indexOf(messageId);
  const before = siblings[place - 1];
  const behind = siblings[place + 1];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <span className={styles.branches} role="group" aria-label="Branches">
      <IconButton
        label="Previous branch"
        disabled={before === undefined}
        onClick={() => before !== undefined && onChoose(before)}
      >
        <ChevronLeft size={14} />
      </IconButton>
      <span>
        {place + 1} of {siblings.length}
      </span>
      <IconButton
        label="Next branch"
        disabled={behind === undefined}
        onClick={() => behind !== undefined && onChoose(behind)}
      >
        <ChevronRight size={14} />
      </IconButton>
    </span>
  );
}
