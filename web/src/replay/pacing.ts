/** Maps the time of a run to playback time, in which long silences are shortened. */

export interface Gap {
  /** Milliseconds since the start of the run. */
  readonly from: number;
  readonly to: number;
  /** Its duration in the playback. */
  readonly shortened: number;
  /** Its start in the playback. */
  readonly start: number;
}

/** The count of sorted numbers that are at most `value`. */
export function upTo(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Pacing {
  /** The shortened silences. */
  readonly gaps: readonly Gap[];
  /** The duration of the playback in milliseconds. */
  readonly duration: number;
  private readonly starts: readonly number[];
  private readonly playbackStarts: readonly number[];

  /** Silences longer than `longest` milliseconds are shortened to it; null keeps all silences. */
  constructor(times: readonly number[], longest: number | null) {
    const gaps: Gap[] = [];
    let saved = 0;
    let before = 0;
    for (const time of times) {
      if (longest !== null && time - before > longest) {
        gaps.push({ from: before, to: time, shortened: longest, start: before - saved });
        saved += time - before - longest;
      }
      before = Math.max(before, time);
    }
    this.gaps = gaps;
    this.duration = before - saved;
    this.starts = gaps.map((gap) => gap.from);
    this.playbackStarts = gaps.map((gap) => gap.start);
  }

  /** The playback time of a time of the run. */
  toPlayback(time: number): number {
    const gap = this.gaps[upTo(this.starts, time) - 1];
    if (!gap) return time;
    if (time >= gap.to) return gap.start + gap.shortened + (time - gap.to);
    return gap.start + ((time - gap.from) / (gap.to - gap.from)) * gap.shortened;
  }

  /** The time of the run at a playback time. */
  toRunTime(playback: number): number {
    const gap = this.gaps[upTo(this.playbackStarts, playback) - 1];
    if (!gap) return playback;
    const inside = playback - gap.start;
    if (inside >= gap.shortened) return gap.to + (inside - gap.shortened);
    return gap.from + (inside / gap.shortened) * (gap.to - gap.from);
  }
}
