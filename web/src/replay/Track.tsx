import { memo, useMemo } from "react";
import type { Pacing } from "./pacing";
import { density, type Segment } from "./segments";
import styles from "./Track.module.css";
import { stopwatch } from "./told";

interface Props {
  readonly times: readonly number[];
  /** How many of the times there are: the list itself only grows. */
  readonly count: number;
  readonly segments: readonly Segment[];
  readonly steps: readonly number[];
  readonly pacing: Pacing;
}

const WIDTH = 1000;
const STRETCHES = 250;
const LANES = { reasoning: 0, text: 1, tool: 2 } as const;
const LANE = 7;
const LANES_TOP = 26;
const HEIGHT = LANES_TOP + 3 * LANE + 2;
const THINNEST = 1.2;
const STEP = 6;

/** How a run went, from left to right: how dense its events came, what it was doing, where it was silent. */
export const Track = memo(function Track({ times, count, segments, steps, pacing }: Props) {
  const across = pacing.duration > 0 ? WIDTH / pacing.duration : 0;
  const x = (time: number) => pacing.shown(time) * across;
  const bars = useMemo(() => {
    const shown = times.slice(0, count).map((time) => pacing.shown(time));
    return drawBars(density(shown, pacing.duration, STRETCHES));
  }, [times, count, pacing]);
  return (
    <svg className={styles.track} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      {pacing.gaps.map((gap) => (
        <rect
          key={gap.from}
          className={styles.gap}
          x={gap.at * across}
          width={Math.max(gap.shown * across, 1)}
          y={0}
          height={HEIGHT}
        >
          <title>{`${stopwatch(gap.to - gap.from)} of silence, shown in ${stopwatch(gap.shown)}`}</title>
        </rect>
      ))}
      <path className={styles.density} d={bars} />
      {(["reasoning", "text", "tool"] as const).map((kind) => (
        <path
          key={kind}
          className={styles[kind]}
          d={drawSegments(
            segments.filter((one) => one.kind === kind),
            LANES_TOP + LANES[kind] * LANE,
            x,
          )}
        />
      ))}
      <path className={styles.step} d={steps.map((time) => `M${x(time).toFixed(1)} 0v${STEP}`).join("")} />
    </svg>
  );
});

function drawBars(counts: readonly number[]): string {
  const most = Math.max(...counts, 1);
  const width = WIDTH / counts.length;
  return counts
    .map((count, place) => {
      if (!count) return "";
      // The root keeps few events visible beside many.
      const height = Math.max(Math.sqrt(count / most) * (LANES_TOP - 4), 2);
      return `M${(place * width).toFixed(1)} ${LANES_TOP - 2}v${-height.toFixed(1)}h${(width * 0.8).toFixed(1)}v${height.toFixed(1)}z`;
    })
    .join("");
}

function drawSegments(segments: readonly Segment[], top: number, x: (time: number) => number): string {
  return segments
    .map(({ from, to }) => {
      const start = x(from);
      const width = Math.max(x(to) - start, THINNEST);
      return `M${start.toFixed(1)} ${top}h${width.toFixed(1)}v${LANE - 2}h${-width.toFixed(1)}z`;
    })
    .join("");
}
