import { Axes } from "./Axes";
import { colourOf } from "./Patterns";
import styles from "./Plot.module.css";
import { Points } from "./Points";
import { frameOf, HEIGHT, type Point } from "./plot";
import { intervals, linear, pathOf } from "./scale";
import type { Series } from "./stack";
import { useWidth } from "./useWidth";

interface Props {
  readonly name: string;
  readonly summary: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly points: readonly (Point | null)[];
  readonly format: (value: number) => string;
  readonly whole?: boolean;
  /** The minimum of the highest value on the axis. */
  readonly least?: number;
  /** Columns that are marked with a vertical line. */
  readonly drops?: readonly number[];
}

/** For those who prefer more contrast, lines differ by their dashes, too. */
const DASHES = [undefined, "6 4", "2 3", "10 3 2 3", "1 5", "12 6"];

export const dashOf = (series: number): string | undefined => DASHES[series % DASHES.length];

/** A line chart. NaN is a gap. The area below the first line is filled. */
export function Lines(props: Props) {
  const { name, summary, labels, series, points, format, whole = false, least = 0, drops = [] } = props;
  const [container, width] = useWidth<HTMLDivElement>();
  const maximum = series.reduce(
    (most, { values }) => values.reduce((one, value) => (value > one ? value : one), most),
    least,
  );
  const frame = frameOf(width, maximum, whole);
  const last = Math.max(1, labels.length - 1);
  const x = linear([0, last], [frame.left + 4, frame.right - 4]);
  const half = (frame.right - frame.left) / last / 2;
  const path = (values: readonly number[]) => pathOf(values, x, frame.y);
  return (
    <div ref={container} className={styles.plot} style={{ height: HEIGHT }}>
      {width > 0 && (
        <>
          <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
            <Axes frame={frame} labels={labels} x={x} format={format} />
            {drops.map((column) => (
              <line
                key={column}
                className={styles.drop}
                x1={x(column)}
                x2={x(column)}
                y1={frame.top}
                y2={frame.bottom}
              />
            ))}
            {series.map(({ name: title, values }, index) => (
              <g key={title}>
                {index === 0 &&
                  intervals(values).map(([from, to]) => (
                    <path
                      key={from}
                      className={styles.area}
                      fill={colourOf(index)}
                      d={`${pathOf(values.slice(from, to), (column) => x(column + from), frame.y)}L${x(to - 1)} ${frame.bottom}L${x(from)} ${frame.bottom}Z`}
                    />
                  ))}
                <path
                  className={styles.line}
                  stroke={colourOf(index)}
                  style={{ "--dash": dashOf(index) } as object}
                  d={path(values)}
                />
                {values.length < 60 &&
                  values.map((value, column) =>
                    Number.isNaN(value) ? null : (
                      <circle
                        key={column}
                        cx={x(column)}
                        cy={frame.y(value)}
                        r={2.4}
                        fill={colourOf(index)}
                      />
                    ),
                  )}
              </g>
            ))}
          </svg>
          <Points
            name={name}
            frame={frame}
            points={points}
            bounds={(column) => [
              Math.max(frame.left, x(column) - half),
              Math.min(frame.right, x(column) + half),
            ]}
          />
        </>
      )}
    </div>
  );
}
