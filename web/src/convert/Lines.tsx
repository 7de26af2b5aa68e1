import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { visible } from "../ui/hostile";
import styles from "./Lines.module.css";
import { type Mark, marksIn, piecesOf, rowsOf } from "./rows";

const ROW = 19;
const FEWEST = 24;
const WIDEST = 400;

interface Props {
  readonly text: string;
  readonly label: string;
  /** Sorted by where they begin. */
  readonly marks?: readonly Mark[];
  /** The mark to be in sight. A new object scrolls again. */
  readonly chosen?: { readonly id: string } | null;
  readonly onChoose?: (id: string) => void;
}

/** A text of any size. Only the rows in sight are drawn; lines break where the window ends. */
export function Lines({ text, label, marks = [], chosen = null, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const columns = useColumns(box);
  const rows = useMemo(() => rowsOf(text, columns), [text, columns]);
  const drawn = useVirtualizer({
    count: rows.count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 20,
  });
  const scroll = useRef<() => void>(() => {});
  scroll.current = () => {
    const mark = marks.find((one) => one.id === chosen?.id);
    if (mark) drawn.scrollToIndex(rows.at(mark.start), { align: "center" });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls when somebody chooses, and not again
  useEffect(() => scroll.current(), [chosen]);
  const digits = String(rows.row(rows.count - 1).line ?? rows.count).length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section ref={box} className={styles.box} aria-label={label} tabIndex={0}>
      <div className={styles.room} style={{ height: drawn.getTotalSize() }}>
        {drawn.getVirtualItems().map(({ index, key, start }) => {
          const row = rows.row(index);
          return (
            <div key={key} className={styles.row} style={{ transform: `translateY(${start}px)` }}>
              <span className={styles.number} style={{ width: `${digits + 1}ch` }} aria-hidden>
                {row.line}
              </span>
              <code>
                {piecesOf(text, row, marksIn(marks, row)).map((piece, at) =>
                  piece.mark ? (
                    <Marked
                      key={at}
                      mark={piece.mark}
                      text={piece.text}
                      isChosen={piece.mark.id === chosen?.id}
                      onChoose={onChoose}
                    />
                  ) : (
                    visible(piece.text)
                  ),
                )}
              </code>
            </div>
          );
        })}
      </div>
    </section>
  );
}

interface MarkedProps {
  readonly mark: Mark;
  readonly text: string;
  readonly isChosen: boolean;
  readonly onChoose?: (id: string) => void;
}

function Marked({ mark, text, isChosen, onChoose }: MarkedProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard comes here from the list of losses
    <mark
      className={styles.mark}
      data-tone={mark.tone}
      data-chosen={isChosen}
      title={mark.why}
      onClick={() => onChoose?.(mark.id)}
    >
      {visible(text) || " "}
    </mark>
  );
}

/** How many characters fit into a row. */
function useColumns(box: React.RefObject<HTMLDivElement | null>): number {
  const [columns, setColumns] = useState(100);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const size = Number.parseFloat(getComputedStyle(element).fontSize) || 12;
      const fitting = Math.floor((element.clientWidth - size * 4.5) / (size * 0.61));
      setColumns(Math.max(FEWEST, Math.min(WIDEST, fitting)));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return columns;
}
