/** The activity of a run over time: text, reasoning and calls as segments, and the starts of steps and parts. */
import type { TimelineEvent } from "../api/runs";
import type { Chunk } from "../partita.gen";

export type Kind = "text" | "reasoning" | "tool" | "step" | "message" | "data" | "error" | "note" | "bytes";

export interface Segment {
  readonly kind: "text" | "reasoning" | "tool";
  readonly from: number;
  readonly to: number;
  /** The name of the tool. */
  readonly name?: string;
}

/** A chunk without the envelopes of sub-agents, and the path of those. */
export function unwrapped(chunk: Chunk): { readonly chunk: Chunk; readonly path: readonly string[] } {
  const path: string[] = [];
  let inner = chunk;
  while (inner.type === "child") {
    path.push(...(inner.path as readonly string[]));
    inner = inner.chunk as Chunk;
  }
  return { chunk: inner, path };
}

const NOTES = "data-partita-";

const KIND_BY_PREFIX: readonly (readonly [string, Kind])[] = [
  ["text-", "text"],
  ["reasoning-", "reasoning"],
  ["tool-output-error", "error"],
  ["tool-input-error", "error"],
  ["tool-", "tool"],
  [NOTES, "note"],
  ["error", "error"],
  ["abort", "error"],
  ["start-step", "step"],
  ["finish-step", "step"],
  ["reset-step", "step"],
  ["start", "message"],
  ["finish", "message"],
  ["message-metadata", "message"],
];

export function kindOf(event: TimelineEvent): Kind {
  if (!event.chunk) return "bytes";
  const { type } = unwrapped(event.chunk).chunk;
  return KIND_BY_PREFIX.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "data";
}

/** The chunks that start a part, and its kind. */
export const OPENS: ReadonlyMap<string, Segment["kind"]> = new Map([
  ["text-start", "text"],
  ["reasoning-start", "reasoning"],
  ["tool-input-start", "tool"],
  ["tool-input-available", "tool"],
]);
const CONTINUES = new Set(["text-delta", "reasoning-delta", "tool-input-delta", "tool-approval-request"]);
/** The chunks that end a part. */
export const CLOSES = new Set([
  "text-end",
  "reasoning-end",
  "tool-output-available",
  "tool-output-error",
  "tool-output-denied",
  "tool-output-typed",
  "tool-input-error",
]);
const PARTS = new Set([
  "file",
  "reasoning-file",
  "source-url",
  "source-document",
  "custom",
  "steering-message",
]);

const idOf = (chunk: Chunk): string => String(chunk.toolCallId ?? chunk.id ?? "");

/** The segments, parts and steps of a run. Events are added as they are loaded. */
export class Outline {
  private readonly closed: Segment[] = [];
  private readonly open = new Map<string, Segment>();
  /** The position at the start of each part. */
  readonly parts: number[] = [];
  /** The start time of each step. */
  readonly steps: number[] = [];
  private count = 0;
  private end = 0;

  add(events: Iterable<TimelineEvent>): void {
    for (const event of events) {
      this.count += 1;
      this.end = Math.max(this.end, event.time);
      if (event.chunk) this.addChunk(event.chunk, event.time);
    }
  }

  /** Segments in the order in which they ended. A call without output extends to the end. */
  segments(): Segment[] {
    const open = [...this.open.values()].map((one) => (one.kind === "tool" ? { ...one, to: this.end } : one));
    return [...this.closed, ...open];
  }

  private addChunk(wrapped: Chunk, time: number): void {
    const { chunk, path } = unwrapped(wrapped);
    const { type } = chunk;
    const opens = OPENS.get(type);
    const key = [...path, type.split("-", 1)[0], idOf(chunk)].join("\u0000");
    const known = this.open.get(key);
    if (type === "start-step") this.steps.push(time);
    else if (opens && !known) this.begin(key, opens, chunk, time);
    else if (known && (CONTINUES.has(type) || opens)) this.open.set(key, { ...known, to: time });
    else if (known && CLOSES.has(type) && chunk.preliminary !== true) this.finish(key, known, time);
    else if (PARTS.has(type) || (type.startsWith("data-") && !type.startsWith(NOTES)))
      this.parts.push(this.count);
  }

  private begin(key: string, kind: Segment["kind"], chunk: Chunk, time: number): void {
    const name = kind === "tool" ? String(chunk.toolName ?? "") : undefined;
    this.open.set(key, { kind, from: time, to: time, ...(name === undefined ? {} : { name }) });
    this.parts.push(this.count);
  }

  private finish(key: string, known: Segment, time: number): void {
    this.open.delete(key);
    this.closed.push({ ...known, to: time });
  }
}

/** A histogram of times over equal bins. */
export function density(times: Iterable<number>, duration: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const time of times) {
    const index = duration > 0 ? Math.floor((time / duration) * bins) : 0;
    const bin = Math.min(Math.max(index, 0), bins - 1);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
