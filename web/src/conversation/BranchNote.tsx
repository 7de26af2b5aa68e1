import { GitBranch } from "lucide-react";
import { Button } from "../ui/Button";
import styles from "./BranchNote.module.css";

/** States that the displayed branch is not the active one. */
export function BranchNote({ onActivate }: { onActivate: () => void }) {
  return (
    <div className={styles.note} role="status">
      <GitBranch size={14} aria-hidden />
      <span>This branch is not the active one.</span>
      <Button small onClick={onActivate}>
        Make it active
      </Button>
    </div>
  );
}
