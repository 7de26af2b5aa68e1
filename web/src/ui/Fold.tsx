import { ChevronRight } from "lucide-react";
import { createContext, type ReactNode, useContext, useState } from "react";
import styles from "./Fold.module.css";
import { revealText, usePartial } from "./reveal";

interface Props {
  readonly head: ReactNode;
  readonly children: ReactNode;
  readonly open?: boolean;
  /** Whether it contains what is shown next, such as the target of a link: then it opens. */
  readonly holds?: boolean;
  /** The text inside: it opens when a word in it is sought. */
  readonly text?: string;
  /** Buttons at the end of the head; clicking them does not toggle the fold. */
  readonly aside?: ReactNode;
  readonly className?: string;
}

/** Expands or collapses all folds below the provider each time its value is a new object. */
export const FoldAll = createContext<{ readonly open: boolean } | null>(null);

/**
 * The open state of a fold: the user's last choice for it, or a later choice for all folds. It opens when it `holds`
 * what is shown next.
 */
export function useFold<T>(initial: T, holds = false): [boolean | T, (isOpen: boolean) => void] {
  const all = useContext(FoldAll);
  const [lastAll, setLastAll] = useState(all);
  const [held, setHeld] = useState(holds);
  const [isOpen, setOpen] = useState<boolean | T>(holds || (all?.open ?? initial));
  if (all !== lastAll) {
    setLastAll(all);
    if (all) setOpen(all.open);
  }
  if (holds !== held) {
    setHeld(holds);
    if (holds) setOpen(true);
  }
  return [isOpen, setOpen];
}

/** A head that expands and collapses its children. Collapsed children are not rendered. */
export function Fold({ head, children, open = false, holds, text, aside, className }: Props) {
  const [isOpen, setOpen] = useFold(open, holds);
  const area = usePartial(
    text && !isOpen ? (wanted) => revealText(text, 0, wanted, () => setOpen(true)) : null,
  );
  return (
    <div className={[styles.fold, className].filter(Boolean).join(" ")} {...area}>
      <div className={styles.line}>
        <button type="button" className={styles.head} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ChevronRight size={14} className={styles.sign} aria-hidden />
          {head}
        </button>
        {aside}
      </div>
      {isOpen && <div className={styles.body}>{children}</div>}
    </div>
  );
}
