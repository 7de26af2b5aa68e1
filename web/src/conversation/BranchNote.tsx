import { GitBranch } from "lucide-react";
import { Button } from "../ui/Button";
import styles from "./BranchNote.module.css";

/** Says that another branch is shown than the one that is gone on with. */
export function BranchNote({ onActivate }: { onActivate: () => void }) {
  return (
    <div className={styles.note} role="status">
      <GitBranch size={14} aria-hidden />
      <span>This is another branch than the current one.</span>
      <Button small onClick={onActivate}>
        Make it the current one
      </Button>
    </div>
  );
}
