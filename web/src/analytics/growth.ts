/** The context of a session, response by response. */
import type { GrowthPoint } from "../api/analytics";

/** A context that shrinks below this share of the previous one was compacted. */
const DROP_RATIO = 0.6;
const MIN_TOKENS = 2000;

/** The points of the session without its sub-agents; all points if there are no others. */
export function ownPoints(points: readonly GrowthPoint[]): readonly GrowthPoint[] {
  const own = points.filter(({ seq }) => seq !== undefined);
  return own.length ? own : points;
}

/** The indexes at which the context was compacted. */
export function dropsIn(points: readonly Pick<GrowthPoint, "inputTokens">[]): number[] {
  return points.flatMap(({ inputTokens }, index) => {
    const before = points[index - 1]?.inputTokens ?? 0;
    return before > MIN_TOKENS && inputTokens < before * DROP_RATIO ? [index] : [];
  });
}

/** About `most` evenly spaced indexes, including the first, the last and those in `always`. */
export function thinned(length: number, most: number, always: readonly number[] = []): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil(length / most));
  const chosen = Array.from({ length }, (_, index) => index).filter((index) => index % every === 0);
  return new Set([...chosen, ...always, ...(length ? [length - 1] : [])]);
}
