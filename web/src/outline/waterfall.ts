/** A turn on a time axis: when each call ran, and when the model was working. */
import type { OverviewCall, OverviewTurn } from "../partita.gen";

/** From and to, in milliseconds after the start of the turn. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Bar {
  readonly call: OverviewCall;
  /** How many sub-agents it is in. */
  readonly depth: number;
  /** Null if its times are unknown. */
  readonly span: Span | null;
  /** The time before it in which no call of its agent ran: the model was working. */
  readonly model: Span | null;
  /** It is the first call of its response: the others have the same tokens. */
  readonly isFirst: boolean;
}

export interface TurnChart {
  readonly bars: readonly Bar[];
  /** From the last call to the end of the turn. */
  readonly last: Span | null;
  /** The length of the axis in milliseconds; 0 if no times are known. */
  readonly length: number;
  /** How long any call ran, in milliseconds. */
  readonly tools: number;
}

/** A gap that is shorter does not show. */
const MIN_GAP = 20;

/** The agent of a call: the turn's, or the call of a sub-agent. */
const agentOf = ({ part }: OverviewCall): string => part.slice(0, Math.max(0, part.lastIndexOf(".")));

/** The path of the call that contains a call; empty for those of the turn's agent. */
export function parentOf({ part }: Pick<OverviewCall, "part">): string {
  const at = Math.max(part.lastIndexOf(".children."), part.lastIndexOf(".network."));
  return at < 0 ? "" : part.slice(0, at);
}

const depthOf = ({ part }: OverviewCall): number => part.split(/\.(?:children|network)\./).length - 1;

/** `now` is the end of what is still running. */
export function chartOf(turn: OverviewTurn, calls: readonly OverviewCall[], now: number): TurnChart {
  const times = [turn, ...calls].flatMap(({ startedAt }) => (startedAt ? [Date.parse(startedAt)] : []));
  if (!times.length) return { bars: calls.map((call) => bare(call)), last: null, length: 0, tools: 0 };
  const origin = times.reduce((least, one) => Math.min(least, one));
  const after = (time: string | null | undefined) => (time ? Date.parse(time) - origin : null);
  const spanOf = (call: OverviewCall): Span | null => {
    const from = after(call.startedAt);
    const to = after(call.endedAt) ?? (call.state === "running" ? now - origin : null);
    return from === null || to === null ? null : { from, to: Math.max(from, to) };
  };
  const spans = calls.map(spanOf);
  const byPlace = new Map(calls.map((call, at) => [`${call.messageId} ${call.part}`, spans[at]]));
  const ends = new Map<string, number>(); // by agent: when its last call ended
  const known = new Set<string>();
  const bars = calls.map((call, at): Bar => {
    const span = spans[at] ?? null;
    const parent = parentOf(call);
    const agent = parent && `${call.messageId} ${parent}`;
    const before = ends.get(agent) ?? (parent ? byPlace.get(agent)?.from : 0) ?? span?.from ?? 0;
    if (span) ends.set(agent, Math.max(before, span.to));
    const response = `${call.messageId} ${agentOf(call)}`;
    const isFirst = !known.has(response);
    known.add(response);
    const model = span && span.from - before >= MIN_GAP ? { from: before, to: span.from } : null;
    return { call, depth: depthOf(call), span, model, isFirst };
  });
  const end = turn.running ? now - origin : (after(turn.endedAt) ?? 0);
  const length = spans.reduce((most, span) => Math.max(most, span?.to ?? 0), Math.max(end, 0));
  const from = ends.get("") ?? 0;
  return {
    bars,
    last: length - from >= MIN_GAP ? { from, to: length } : null,
    length,
    tools: covered(bars.flatMap(({ depth, span }) => (depth === 0 && span ? [span] : []))),
  };
}

const bare = (call: OverviewCall): Bar => ({
  call,
  depth: depthOf(call),
  span: null,
  model: null,
  isFirst: true,
});

/** How long at least one of the spans lasts. */
function covered(spans: readonly Span[]): number {
  let [sum, end] = [0, Number.NEGATIVE_INFINITY];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200, 86_400];
const MAX_TICKS = 6;

/** The marks of the time axis, in milliseconds. */
export function ticksOf(length: number): readonly number[] {
  const seconds = length / 1000;
  const small = seconds < 1 ? 10 ** Math.floor(Math.log10(Math.max(seconds, 0.001))) : 0;
  const step =
    (small && [1, 2, 5].map((one) => one * small).find((one) => seconds / one <= MAX_TICKS)) ||
    STEPS.find((one) => seconds / one <= MAX_TICKS) ||
    Math.ceil(seconds / MAX_TICKS / 86_400) * 86_400;
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, at) => at * step * 1000);
}
