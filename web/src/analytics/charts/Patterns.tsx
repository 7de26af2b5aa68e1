import styles from "./Plot.module.css";

/** The patterns over the colours of series, so that colours are not the only difference. The first has none. */
const MARKS = [
  "",
  "M0 8L8 0M-2 2L2 -2M6 10L10 6",
  "M2 2h1.6v1.6H2zM6 6h1.6v1.6H6z",
  "M0 4h8",
  "M4 0v8",
  "M0 0L8 8M8 0L0 8",
];

export const colourOf = (series: number): string => `var(--series-${(series % 6) + 1})`;

/** The fill of a series in a chart. */
export const fillOf = (chart: string, series: number): string => `url(#${chart}-${series % MARKS.length})`;

export function Patterns({ chart, count }: { chart: string; count: number }) {
  return (
    <defs>
      {MARKS.slice(0, Math.max(1, count)).map((mark, index) => (
        <pattern
          key={mark}
          id={`${chart}-${index}`}
          width={8}
          height={8}
          patternUnits="userSpaceOnUse"
          aria-hidden
        >
          <rect width={8} height={8} fill={colourOf(index)} />
          {mark && <path d={mark} className={styles.mark} />}
        </pattern>
      ))}
    </defs>
  );
}
