/**
 * The messages of a run at any place of it, as the server's `GET /api/runs/{id}/at` tells them: most runs are one
 * message; each `start` with another id, after a `finish`, begins the next.
 */
import type { TimelineEvent } from "../api/runs";
import type { AssistantMessage, Chunk, DataChunk, MessageStart, ToolCallPart } from "../partita.gen";
import { isInternal, Reducer } from "../stream/reduce";
import { PartTimes } from "./partTimes";

const DECISION = "data-partita-decision";

type Decisions = Map<string, { readonly by?: unknown; readonly at?: unknown }>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Feed it the chunks of a run, look at its messages. */
export class RunFold {
  private done: AssistantMessage[] = [];
  private current: Reducer;
  private ended = false;
  private internal = false;
  private readonly decisions: Decisions = new Map();
  private last: { readonly from: AssistantMessage; readonly to: AssistantMessage } | null = null;

  /** `begun` is the message that the run goes on with, or the empty one that it begins. */
  constructor(
    begun: AssistantMessage,
    private readonly runId: string,
  ) {
    this.current = new Reducer(begun);
  }

  feed(chunk: Chunk): void {
    if (chunk.type === "start") this.begin(chunk as MessageStart);
    else if (chunk.type === DECISION) this.decide((chunk as DataChunk).data);
    this.current.feed(chunk);
    if (chunk.type === "finish") this.ended = true;
  }

  messages(): readonly AssistantMessage[] {
    return [...this.done, this.finished()];
  }

  private begin(start: MessageStart): void {
    if (this.ended && start.messageId !== undefined && start.messageId !== this.current.snapshot().id) {
      this.done = [...this.done, this.finished()];
      this.current = new Reducer(start.messageId);
      this.ended = false;
    }
    this.internal = isInternal(start);
    this.last = null;
  }

  private decide(data: unknown): void {
    if (isObject(data)) this.decisions.set(String(data.approvalId), data);
    this.last = null;
  }

  private finished(): AssistantMessage {
    const from = this.current.snapshot();
    if (this.last?.from !== from) this.last = { from, to: this.complete(from) };
    return this.last.to;
  }

  private complete(message: AssistantMessage): AssistantMessage {
    const said = message.content.metadata;
    const usage = isObject(said) && isObject(said.usage) ? said.usage : message.content.usage;
    const parts = this.decisions.size
      ? message.content.parts.map((part) =>
          part.type === "tool-call" ? this.decided(part as ToolCallPart) : part,
        )
      : message.content.parts;
    return {
      ...message,
      runId: this.runId,
      ...(this.internal || message.internal ? { internal: true } : {}),
      content: { ...message.content, parts, ...(usage === undefined ? {} : { usage }) },
    };
  }

  /** A call with who answered its question, and when. */
  private decided(call: ToolCallPart): ToolCallPart {
    const noted = call.approval && this.decisions.get(call.approval.id);
    if (!call.approval || !noted) return call;
    const respondedBy = typeof noted.by === "string" ? noted.by : undefined;
    const respondedAt = typeof noted.at === "string" ? noted.at : undefined;
    return {
      ...call,
      approval: {
        ...call.approval,
        ...(respondedBy === undefined ? {} : { respondedBy }),
        ...(respondedAt === undefined ? {} : { respondedAt }),
      },
    };
  }
}

const KEPT = 400;
const BEHIND = 100;

/** The messages at any place. A step back costs a fold from the beginning, once in a hundred steps. */
export class Frames {
  private fold: RunFold;
  private place = 0;
  private readonly kept = new Map<number, readonly AssistantMessage[]>();
  /** Of all places that somebody has looked at, and those before them. */
  readonly times = new PartTimes();

  constructor(
    private readonly events: readonly TimelineEvent[], // grows while the run is at work
    private readonly begun: AssistantMessage,
    private readonly runId: string,
  ) {
    this.fold = new RunFold(begun, runId);
  }

  /** The messages when so many events had come. */
  at(place: number): readonly AssistantMessage[] {
    const known = this.kept.get(place);
    if (known) return known;
    const back = place < this.place;
    if (back) {
      this.fold = new RunFold(this.begun, this.runId);
      this.place = 0;
    }
    while (this.place < Math.min(place, this.events.length)) {
      const event = this.events[this.place];
      this.place += 1;
      if (event?.chunk) {
        this.fold.feed(event.chunk);
        this.times.note(this.place, event.time, event.chunk, () => this.fold.messages());
      }
      if (back && place - this.place < BEHIND) this.keep(this.place);
    }
    return this.keep(place);
  }

  private keep(place: number): readonly AssistantMessage[] {
    const messages = this.fold.messages();
    this.kept.set(place, messages);
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest);
    return messages;
  }
}
