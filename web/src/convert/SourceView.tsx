import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { visible } from "../ui/sanitize";
import { type Mark, marksIn, piecesOf, rowsOf } from "./rows";
import styles from "./SourceView.module.css";

const ROW_HEIGHT = 19;
const MIN_COLUMNS = 24;
const MAX_COLUMNS = 400;

interface Props {
  readonly text: string;
  readonly label: string;
  /** Sorted by start. */
  readonly marks?: readonly Mark[];
  /** The mark to scroll to. A new object scrolls again. */
  readonly chosen?: { readonly id: string } | null;
  readonly onChoose?: (id: string) => void;
}

/** A text of any size with marks. Only visible rows are rendered; long lines wrap. */
export function SourceView({ text, label, marks = [], chosen = null, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const columns = useColumns(box);
  const rows = useMemo(() => rowsOf(text, columns), [text, columns]);
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
  });
  const scroll = useRef<() => void>(() => {});
  scroll.current = () => {
    const mark = marks.find((one) => one.id === chosen?.id);
    if (mark) virtual.scrollToIndex(rows.at(mark.start), { align: "center" });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls only when the selection changes
  useEffect(() => scroll.current(), [chosen]);
  const digits = String(rows.row(rows.count - 1).line ?? rows.count).length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section ref={box} className={styles.box} aria-label={label} tabIndex={0}>
      <div className={styles.sizer} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: keyboard users reach the marks from the list of losses
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

/** The number of characters per row. */
function useColumns(box: React.RefObject<HTMLDivElement | null>): number {
  const [columns, setColumns] = useState(100);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const size = Number.parseFloat(getComputedStyle(element).fontSize) || 12;
      const fitting = Math.floor((element.clientWidth - size * 4.5) / (size * 0.61));
      setColumns(Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, fitting)));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return columns;
}
