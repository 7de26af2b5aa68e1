/** The time of a run beside the time it is shown in: silences that are skipped are shorter there. */

export interface Gap {
  /** Milliseconds since the run began. */
  readonly from: number;
  readonly to: number;
  /** How long it is shown. */
  readonly shown: number;
  /** Where it begins in the time that is shown. */
  readonly at: number;
}

/** How many of the sorted numbers are not above a value. */
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
  /** The silences that are shortened. */
  readonly gaps: readonly Gap[];
  /** How long the run is shown, in milliseconds. */
  readonly duration: number;
  private readonly starts: readonly number[];
  private readonly places: readonly number[];

  /** Silences above `longest` milliseconds last so long; null leaves them all as they were. */
  constructor(times: readonly number[], longest: number | null) {
    const gaps: Gap[] = [];
    let saved = 0;
    let before = 0;
    for (const time of times) {
      if (longest !== null && time - before > longest) {
        gaps.push({ from: before, to: time, shown: longest, at: before - saved });
        saved += time - before - longest;
      }
      before = Math.max(before, time);
    }
    this.gaps = gaps;
    this.duration = before - saved;
    this.starts = gaps.map((gap) => gap.from);
    this.places = gaps.map((gap) => gap.at);
  }

  /** When a moment of the run is shown. */
  shown(real: number): number {
    const gap = this.gaps[upTo(this.starts, real) - 1];
    if (!gap) return real;
    if (real >= gap.to) return gap.at + gap.shown + (real - gap.to);
    return gap.at + ((real - gap.from) / (gap.to - gap.from)) * gap.shown;
  }

  /** Which moment of the run is shown then. */
  real(shown: number): number {
    const gap = this.gaps[upTo(this.places, shown) - 1];
    if (!gap) return shown;
    const inside = shown - gap.at;
    if (inside >= gap.shown) return gap.to + (inside - gap.shown);
    return gap.from + (inside / gap.shown) * (gap.to - gap.from);
  }
}
