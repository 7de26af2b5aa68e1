import styles from "./Plot.module.css";
import type { Point } from "./plot";

interface Props {
  readonly label: string;
  readonly lines: Point["lines"];
  /** The sides of what it describes. */
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly top?: number;
  readonly swatch?: (series: number) => string;
}

/** A tooltip, on the side of its mark with more space. */
export function Tip({ label, lines, from, to, width, top, swatch }: Props) {
  const side = (from + to) / 2 < width / 2 ? { left: to + 6 } : { right: `calc(100% - ${from - 6}px)` };
  return (
    <div className={styles.tip} style={{ ...side, ...(top === undefined ? {} : { top }) }} aria-hidden>
      <strong>{label}</strong>
      {lines.map((line) => (
        <span key={line.name} className={styles.tipLine}>
          {line.series !== undefined && swatch ? (
            <svg width={10} height={10} aria-hidden>
              <rect width={10} height={10} fill={swatch(line.series)} />
            </svg>
          ) : (
            <i />
          )}
          <span>{line.name}</span>
          <b>{line.text}</b>
        </span>
      ))}
    </div>
  );
}
