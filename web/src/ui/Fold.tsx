import { ChevronRight } from "lucide-react";
import { createContext, type ReactNode, useContext, useState } from "react";
import styles from "./Fold.module.css";

interface Props {
  readonly head: ReactNode;
  readonly children: ReactNode;
  readonly open?: boolean;
  /** Buttons at the end of the head; pressing them does not fold. */
  readonly aside?: ReactNode;
  readonly className?: string;
}

/** A wish that everything below be open, or closed: a new object is a new wish. */
export const FoldAll = createContext<{ readonly open: boolean } | null>(null);

/** A head that opens and closes what is below it. What is closed is not drawn. */
export function Fold({ head, children, open = false, aside, className }: Props) {
  const all = useContext(FoldAll);
  const [heard, setHeard] = useState(all);
  const [isOpen, setOpen] = useState(all?.open ?? open);
  if (all !== heard) {
    setHeard(all);
    if (all) setOpen(all.open);
  }
  return (
    <div className={[styles.fold, className].filter(Boolean).join(" ")}>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.head}
          aria-expanded={isOpen}
          onClick={() => setOpen((was) => !was)}
        >
          <ChevronRight size={14} className={styles.sign} aria-hidden />
          {head}
        </button>
        {aside}
      </div>
      {isOpen && <div className={styles.body}>{children}</div>}
    </div>
  );
}
