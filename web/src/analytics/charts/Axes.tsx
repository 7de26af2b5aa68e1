import styles from "./Plot.module.css";
import type { Frame } from "./plot";
import { labelEvery } from "./scale";

interface Props {
  readonly frame: Frame;
  readonly labels: readonly string[];
  readonly x: (column: number) => number;
  readonly format: (value: number) => string;
}

/** The width of a character in pixels. */
const CHARACTER = 6;

/** The grid lines with their values, and as many column labels as fit. */
export function Axes({ frame, labels, x, format }: Props) {
  const every = labelEvery(labels.length, frame.right - frame.left, 58);
  return (
    <>
      {frame.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? styles.base : styles.grid}
            x1={frame.left}
            x2={frame.right}
            y1={frame.y(tick)}
            y2={frame.y(tick)}
          />
          <text className={styles.label} x={frame.left - 6} y={frame.y(tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labels.map((label, column) =>
        column % every === 0 ? (
          <text
            key={column}
            className={styles.label}
            x={Math.min(
              Math.max(x(column), frame.left + 14),
              frame.right + 8 - (label.length * CHARACTER) / 2,
            )}
            y={frame.bottom + 17}
            textAnchor="middle"
          >
            {label}
          </text>
        ) : null,
      )}
    </>
  );
}
