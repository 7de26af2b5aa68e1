/** What a run was doing when: texts, reasoning and calls as stretches of time, and where steps and parts begin. */
import type { TimelineEvent } from "../api/runs";
import type { Chunk } from "../partita.gen";

export type Kind = "text" | "reasoning" | "tool" | "step" | "message" | "data" | "error" | "note" | "bytes";

export interface Segment {
  readonly kind: "text" | "reasoning" | "tool";
  readonly from: number;
  readonly to: number;
  /** The tool of a call. */
  readonly name?: string;
}

/** What a chunk is about, without the envelopes of sub-agents around it. */
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

const BY_BEGINNING: readonly (readonly [string, Kind])[] = [
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

/** What kind of thing happened. */
export function kindOf(event: TimelineEvent): Kind {
  if (!event.chunk) return "bytes";
  const { type } = unwrapped(event.chunk).chunk;
  return BY_BEGINNING.find(([beginning]) => type.startsWith(beginning))?.[1] ?? "data";
}

/** What begins a part, and of what kind. */
export const OPENS: ReadonlyMap<string, Segment["kind"]> = new Map([
  ["text-start", "text"],
  ["reasoning-start", "reasoning"],
  ["tool-input-start", "tool"],
  ["tool-input-available", "tool"],
]);
const GOES_ON = new Set(["text-delta", "reasoning-delta", "tool-input-delta", "tool-approval-request"]);
/** What ends one. */
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

/** Grows with the events of a run. */
export class Outline {
  private readonly closed: Segment[] = [];
  private readonly open = new Map<string, Segment>();
  /** How many events have come when each part has just begun. */
  readonly parts: number[] = [];
  /** When each step began. */
  readonly steps: number[] = [];
  private count = 0;
  private end = 0;

  add(events: Iterable<TimelineEvent>): void {
    for (const event of events) {
      this.count += 1;
      this.end = Math.max(this.end, event.time);
      if (event.chunk) this.take(event.chunk, event.time);
    }
  }

  /** In the order in which they ended; a call that waits for its output goes on to the end. */
  segments(): Segment[] {
    const open = [...this.open.values()].map((one) => (one.kind === "tool" ? { ...one, to: this.end } : one));
    return [...this.closed, ...open];
  }

  private take(wrapped: Chunk, time: number): void {
    const { chunk, path } = unwrapped(wrapped);
    const { type } = chunk;
    const opens = OPENS.get(type);
    const key = [...path, type.split("-", 1)[0], idOf(chunk)].join("\u0000");
    const known = this.open.get(key);
    if (type === "start-step") this.steps.push(time);
    else if (opens && !known) this.begin(key, opens, chunk, time);
    else if (known && (GOES_ON.has(type) || opens)) this.open.set(key, { ...known, to: time });
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

/** How many of the shown moments fall into each of so many equal stretches. */
export function density(shown: Iterable<number>, duration: number, stretches: number): number[] {
  const counts = new Array<number>(stretches).fill(0);
  for (const time of shown) {
    const place = duration > 0 ? Math.floor((time / duration) * stretches) : 0;
    const inside = Math.min(Math.max(place, 0), stretches - 1);
    counts[inside] = (counts[inside] ?? 0) + 1;
  }
  return counts;
}
