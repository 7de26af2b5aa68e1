import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useState } from "react";
import { plural } from "../ui/format";
import { type FoundItem, findItem, usePartial } from "../ui/reveal";
import { ShowAll } from "../ui/ShowAll";
import type { Span } from "./ansi";
import styles from "./LineList.module.css";
import type { TextLine } from "./lines";

/** Longer texts render only their visible lines. */
const VIRTUAL_FROM = 300;

interface Props {
  readonly lines: readonly TextLine[];
  readonly label: string;
  /** The number of the first line; without it, lines have no numbers. */
  readonly numbered?: number;
  readonly tone?: "bad";
  /** There are no more lines to load. */
  readonly isComplete?: boolean;
  /** Loads more lines. */
  readonly onMore?: () => void;
}

/** Lines of text; any number of them. */
export function LineList(props: Props) {
  const { lines, label, tone, isComplete = true } = props;
  const isVirtual = lines.length > VIRTUAL_FROM;
  // State instead of a ref: effects of the children run before the ref is set.
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const [sought, setSought] = useState<FoundItem | null>(null);
  const area = usePartial((wanted) => {
    const found = findItem(lines.map(textOf), wanted);
    if (typeof found === "number") {
      if (isComplete) return { type: "missing", total: found };
      props.onMore?.();
      return { type: "loading" };
    }
    if (found.item !== sought?.item || found.at !== sought.at) setSought(found);
    return { type: "shown", marked: isVirtual };
  });
  return (
    <div className={styles.lines} {...area}>
      <ShowAll
        label={label}
        what={isComplete ? plural(lines.length, "line") : undefined}
        scroller={isVirtual ? setBox : undefined}
        className={tone === "bad" ? `${styles.box} ${styles.bad}` : styles.box}
      >
        {isVirtual ? (
          <VirtualLines {...props} box={box} sought={sought} />
        ) : (
          lines.map((line, at) => <Line key={at} line={line} first={props.numbered} />)
        )}
      </ShowAll>
    </div>
  );
}

const textOf = ({ spans }: TextLine): string => spans.map(({ text }) => text).join("");

interface VirtualProps extends Props {
  readonly box: HTMLDivElement | null;
  /** The occurrence that is scrolled to. */
  readonly sought: FoundItem | null;
}

function VirtualLines({ lines, numbered, box, sought }: VirtualProps) {
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box,
    estimateSize: () => 19,
    overscan: 20,
  });
  useEffect(() => {
    if (sought && box) rows.scrollToIndex(sought.item, { align: "center" });
  }, [rows, box, sought]);
  return (
    <div className={styles.sizer} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map((row) => {
        const line = lines[row.index];
        return (
          line && (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
              data-sought={row.index === sought?.item ? sought.at : undefined}
              className={styles.placed}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              <Line line={line} first={numbered} />
            </div>
          )
        );
      })}
    </div>
  );
}

const Line = memo(function Line({ line, first }: { line: TextLine; first?: number }) {
  const number = first !== undefined && line.number !== undefined ? line.number + first - 1 : "";
  return (
    <div className={styles.line}>
      {first !== undefined && (
        <span className={styles.number} aria-hidden>
          {number}
        </span>
      )}
      <span className={styles.text}>
        {line.spans.length ? line.spans.map((span, at) => <StyledSpan key={at} span={span} />) : "\n"}
        {line.continues && (
          <span className={styles.cut} title="The line continues below">
            {" "}
            ↩
          </span>
        )}
      </span>
    </div>
  );
});

function StyledSpan({ span }: { span: Span }) {
  if (!span.styles.length) return span.text;
  return <span className={span.styles.map((one) => styles[one]).join(" ")}>{span.text}</span>;
}
