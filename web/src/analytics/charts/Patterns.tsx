import styles from "./Plot.module.css";

/**
 * Patterns over the colours of series, for those who prefer more contrast: by default the colours are plain. The first
 * has none.
 */
const MARKS = [
  "",
  "M0 8L8 0M-2 2L2 -2M6 10L10 6",
  "M2 2h1.6v1.6H2zM6 6h1.6v1.6H6z",
  "M0 4h8",
  "M4 0v8",
  "M0 0L8 8M8 0L0 8",
  "M0 2h4M4 6h4",
  "M0 0L8 8",
  "",
];

export const colourOf = (series: number): string => `var(--series-${(series % MARKS.length) + 1})`;

/** The fill of a series in a chart. */
export const fillOf = (chart: string, series: number): string => `url(#${chart}-${series % MARKS.length})`;

export function Patterns({ chart, colours }: { chart: string; colours: readonly number[] }) {
  return (
    <defs>
      {colours.map((colour) => (
        <pattern
          key={colour}
          id={`${chart}-${colour % MARKS.length}`}
          width={8}
          height={8}
          patternUnits="userSpaceOnUse"
          aria-hidden
        >
          <rect width={8} height={8} fill={colourOf(colour)} />
          {MARKS[colour % MARKS.length] && <path d={MARKS[colour % MARKS.length]} className={styles.mark} />}
        </pattern>
      ))}
    </defs>
  );
}
