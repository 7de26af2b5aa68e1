import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useState } from "react";
import type { Span } from "./ansi";
import styles from "./LineList.module.css";
import type { DrawnLine } from "./lines";
import { Scrolling } from "./Scrolling";

/** From here on only the lines in sight are drawn. */
const MANY = 300;

interface Props {
  readonly lines: readonly DrawnLine[];
  readonly label: string;
  /** The number of the first line; without it, lines have no numbers. */
  readonly numbered?: number;
  readonly tone?: "bad";
}

/** Lines of text in a window that scrolls; any number of them. */
export function LineList(props: Props) {
  const { lines, label, tone } = props;
  // Known by state, not by a ref: what is inside is set up before a ref of the outer element is.
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  return (
    <Scrolling
      ref={setBox}
      label={label}
      className={tone === "bad" ? `${styles.box} ${styles.bad}` : styles.box}
    >
      {lines.length > MANY ? (
        <InSight {...props} box={box} />
      ) : (
        lines.map((line, at) => <Line key={at} line={line} first={props.numbered} />)
      )}
    </Scrolling>
  );
}

function InSight({ lines, numbered, box }: Props & { box: HTMLDivElement | null }) {
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box,
    estimateSize: () => 19,
    overscan: 20,
  });
  return (
    <div className={styles.room} style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map((row) => {
        const line = lines[row.index];
        return (
          line && (
            <div
              key={row.key}
              ref={rows.measureElement}
              data-index={row.index}
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

const Line = memo(function Line({ line, first }: { line: DrawnLine; first?: number }) {
  const number = first !== undefined && line.number !== undefined ? line.number + first - 1 : "";
  return (
    <div className={styles.line}>
      {first !== undefined && (
        <span className={styles.number} aria-hidden>
          {number}
        </span>
      )}
      <span className={styles.text}>
        {line.spans.length ? line.spans.map((span, at) => <Coloured key={at} span={span} />) : "\n"}
        {line.goesOn && (
          <span className={styles.cut} title="The line goes on below">
            {" "}
            ↩
          </span>
        )}
      </span>
    </div>
  );
});

function Coloured({ span }: { span: Span }) {
  if (!span.look.length) return span.text;
  return <span className={span.look.map((one) => styles[one]).join(" ")}>{span.text}</span>;
}
