import { memo, useMemo } from "react";
import { stopwatch } from "./eventText";
import type { Pacing } from "./pacing";
import { density, type Segment } from "./segments";
import styles from "./Track.module.css";

interface Props {
  readonly times: readonly number[];
  /** The number of times. The array itself is mutable and only grows. */
  readonly count: number;
  readonly segments: readonly Segment[];
  readonly steps: readonly number[];
  readonly pacing: Pacing;
}

const WIDTH = 1000;
const BINS = 250;
const LANES = { reasoning: 0, text: 1, tool: 2 } as const;
const LANE_HEIGHT = 7;
const LANES_TOP = 26;
const HEIGHT = LANES_TOP + 3 * LANE_HEIGHT + 2;
const MIN_WIDTH = 1.2;
const STEP_HEIGHT = 6;

/** The run from left to right: density of events, segments of activity, silences and steps. */
export const Track = memo(function Track({ times, count, segments, steps, pacing }: Props) {
  const scale = pacing.duration > 0 ? WIDTH / pacing.duration : 0;
  const x = (time: number) => pacing.toPlayback(time) * scale;
  const bars = useMemo(() => {
    const playback = times.slice(0, count).map((time) => pacing.toPlayback(time));
    return drawBars(density(playback, pacing.duration, BINS));
  }, [times, count, pacing]);
  return (
    <svg className={styles.track} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      {pacing.gaps.map((gap) => (
        <rect
          key={gap.from}
          className={styles.gap}
          x={gap.start * scale}
          width={Math.max(gap.shortened * scale, 1)}
          y={0}
          height={HEIGHT}
        >
          <title>{`${stopwatch(gap.to - gap.from)} of silence, shortened to ${stopwatch(gap.shortened)}`}</title>
        </rect>
      ))}
      <path className={styles.density} d={bars} />
      {(["reasoning", "text", "tool"] as const).map((kind) => (
        <path
          key={kind}
          className={styles[kind]}
          d={drawSegments(
            segments.filter((one) => one.kind === kind),
            LANES_TOP + LANES[kind] * LANE_HEIGHT,
            x,
          )}
        />
      ))}
      <path
        className={styles.step}
        d={steps.map((time) => `M${x(time).toFixed(1)} 0v${STEP_HEIGHT}`).join("")}
      />
    </svg>
  );
});

function drawBars(counts: readonly number[]): string {
  const most = Math.max(...counts, 1);
  const width = WIDTH / counts.length;
  return counts
    .map((count, index) => {
      if (!count) return "";
      // The square root keeps small counts visible.
      const height = Math.max(Math.sqrt(count / most) * (LANES_TOP - 4), 2);
      return `M${(index * width).toFixed(1)} ${LANES_TOP - 2}v${-height.toFixed(1)}h${(width * 0.8).toFixed(1)}v${height.toFixed(1)}z`;
    })
    .join("");
}

function drawSegments(segments: readonly Segment[], top: number, x: (time: number) => number): string {
  return segments
    .map(({ from, to }) => {
      const start = x(from);
      const width = Math.max(x(to) - start, MIN_WIDTH);
      return `M${start.toFixed(1)} ${top}h${width.toFixed(1)}v${LANE_HEIGHT - 2}h${-width.toFixed(1)}z`;
    })
    .join("");
}
