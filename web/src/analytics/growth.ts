/** The context of a session, response by response. */
import type { GrowthPoint } from "../api/analytics";

const FALL = 0.6;
const SMALL = 2000;

/** What the session itself was given; where nothing is known of its messages, all there is. */
export function ownPoints(points: readonly GrowthPoint[]): readonly GrowthPoint[] {
  const own = points.filter(({ seq }) => seq !== undefined);
  return own.length ? own : points;
}

/** Where the context became much smaller at once: it was compacted there. */
export function fallsIn(points: readonly Pick<GrowthPoint, "inputTokens">[]): number[] {
  return points.flatMap(({ inputTokens }, index) => {
    const before = points[index - 1]?.inputTokens ?? 0;
    return before > SMALL && inputTokens < before * FALL ? [index] : [];
  });
}

/** At most so many indices, evenly: the first, the last, and every fall among them. */
export function thinned(length: number, most: number, always: readonly number[] = []): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil(length / most));
  const chosen = Array.from({ length }, (_, index) => index).filter((index) => index % every === 0);
  return new Set([...chosen, ...always, ...(length ? [length - 1] : [])]);
}
