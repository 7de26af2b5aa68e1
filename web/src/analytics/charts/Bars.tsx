import { Axes } from "./Axes";
import { fillOf, Patterns } from "./Patterns";
import styles from "./Plot.module.css";
import { Points } from "./Points";
import { frameOf, HEIGHT, type Point } from "./plot";
import { pathOf } from "./scale";
import { type Series, stacked, totals } from "./stack";
import { useWidth } from "./useWidth";

interface Props {
  /** The id of the chart. Its patterns are derived from it. */
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly points: readonly (Point | null)[];
  readonly format: (value: number) => string;
  readonly whole?: boolean;
  /** The values of a line over the columns. NaN is a gap. */
  readonly line?: readonly number[];
}

/** Stacked columns. */
export function Bars({ id, name, summary, labels, series, points, format, whole = false, line = [] }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const frame = frameOf(width, Math.max(0, ...totals(series, labels.length)), whole);
  const band = (frame.right - frame.left) / Math.max(1, labels.length);
  const bar = Math.max(1, Math.min(band * 0.76, 36));
  const startOf = (column: number) => frame.left + column * band;
  const middleOf = (column: number) => startOf(column) + band / 2;
  const colours = series.map(({ colour }, index) => colour ?? index);
  return (
    <div ref={container} className={styles.plot} style={{ height: HEIGHT }}>
      {width > 0 && (
        <>
          <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
            <Patterns chart={id} colours={colours} />
            <Axes frame={frame} labels={labels} x={middleOf} format={format} />
            {labels.map((_, column) =>
              stacked(series, column).map(([from, to], index) =>
                to > from ? (
                  <rect
                    key={`${column} ${index}`}
                    x={startOf(column) + (band - bar) / 2}
                    width={bar}
                    y={frame.y(to)}
                    height={Math.max(0.5, frame.y(from) - frame.y(to) - (index ? 1 : 0))}
                    fill={fillOf(id, colours[index] ?? 0)}
                  />
                ) : null,
              ),
            )}
            {line.some((value) => value > 0) && (
              <path className={styles.average} d={pathOf(line, middleOf, frame.y)} />
            )}
          </svg>
          <Points
            name={name}
            frame={frame}
            points={points}
            bounds={(column) => [startOf(column), startOf(column) + band]}
            swatch={(index) => fillOf(id, colours[index] ?? 0)}
          />
        </>
      )}
    </div>
  );
}
