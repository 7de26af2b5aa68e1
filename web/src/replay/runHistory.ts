/**
 * The messages of a run at any position, as `GET /api/runs/{id}/at` returns them. Most runs have one message. A
 * `start` with another id after a `finish` starts the next message.
 */
import type { TimelineEvent } from "../api/runs";
import type { AssistantMessage, Chunk, DataChunk, MessageStart, ToolCallPart } from "../partita.gen";
import { isInternal, Reducer } from "../stream/reduce";
import { PartTimes } from "./partTimes";

const DECISION = "data-partita-decision";

type Decisions = Map<string, { readonly by?: unknown; readonly at?: unknown }>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Builds the messages of a run from its chunks. */
class RunReducer {
  private completed: AssistantMessage[] = [];
  private current: Reducer;
  private isFinished = false;
  private internal = false;
  private readonly decisions: Decisions = new Map();
  private last: { readonly from: AssistantMessage; readonly to: AssistantMessage } | null = null;

  /** `first` is the message that the run continues, or the empty message that it starts with. */
  constructor(
    first: AssistantMessage,
    private readonly runId: string,
  ) {
    this.current = new Reducer(first);
  }

  feed(chunk: Chunk): void {
    if (chunk.type === "start") this.startMessage(chunk as MessageStart);
    else if (chunk.type === DECISION) this.addDecision((chunk as DataChunk).data);
    this.current.feed(chunk);
    if (chunk.type === "finish") this.isFinished = true;
  }

  messages(): readonly AssistantMessage[] {
    return [...this.completed, this.currentMessage()];
  }

  private startMessage(start: MessageStart): void {
    if (this.isFinished && start.messageId !== undefined && start.messageId !== this.current.snapshot().id) {
      this.completed = [...this.completed, this.currentMessage()];
      this.current = new Reducer(start.messageId);
      this.isFinished = false;
    }
    this.internal = isInternal(start);
    this.last = null;
  }

  private addDecision(data: unknown): void {
    if (isObject(data)) this.decisions.set(String(data.approvalId), data);
    this.last = null;
  }

  private currentMessage(): AssistantMessage {
    const from = this.current.snapshot();
    if (this.last?.from !== from) this.last = { from, to: this.decorate(from) };
    return this.last.to;
  }

  /** The message with what the store adds to it: run id, usage and decisions. */
  private decorate(message: AssistantMessage): AssistantMessage {
    const { metadata } = message.content;
    const usage = isObject(metadata) && isObject(metadata.usage) ? metadata.usage : message.content.usage;
    const parts = this.decisions.size
      ? message.content.parts.map((part) =>
          part.type === "tool-call" ? this.withDecision(part as ToolCallPart) : part,
        )
      : message.content.parts;
    return {
      ...message,
      runId: this.runId,
      ...(this.internal || message.internal ? { internal: true } : {}),
      content: { ...message.content, parts, ...(usage === undefined ? {} : { usage }) },
    };
  }

  /** A call with the author and the time of its approval. */
  private withDecision(call: ToolCallPart): ToolCallPart {
    const decision = call.approval && this.decisions.get(call.approval.id);
    if (!call.approval || !decision) return call;
    const respondedBy = typeof decision.by === "string" ? decision.by : undefined;
    const respondedAt = typeof decision.at === "string" ? decision.at : undefined;
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

const CACHE_SIZE = 400;
/** Positions before a requested earlier one that are cached, too. */
const LOOKBEHIND = 100;

/** The messages of a run at any position. Going back replays the run from its start, once in a hundred steps. */
export class RunHistory {
  private reducer: RunReducer;
  private position = 0;
  private readonly cache = new Map<number, readonly AssistantMessage[]>();
  /** The times of parts up to the last position that was requested. */
  readonly times = new PartTimes();

  constructor(
    private readonly events: readonly TimelineEvent[], // grows while the run is active
    private readonly first: AssistantMessage,
    private readonly runId: string,
  ) {
    this.reducer = new RunReducer(first, runId);
  }

  /** The messages after that many events. */
  at(position: number): readonly AssistantMessage[] {
    const known = this.cache.get(position);
    if (known) return known;
    const isBack = position < this.position;
    if (isBack) {
      this.reducer = new RunReducer(this.first, this.runId);
      this.position = 0;
    }
    while (this.position < Math.min(position, this.events.length)) {
      const event = this.events[this.position];
      this.position += 1;
      if (event?.chunk) {
        this.reducer.feed(event.chunk);
        this.times.record(this.position, event.time, event.chunk, () => this.reducer.messages());
      }
      if (isBack && position - this.position < LOOKBEHIND) this.store(this.position);
    }
    return this.store(position);
  }

  private store(position: number): readonly AssistantMessage[] {
    const messages = this.reducer.messages();
    this.cache.set(position, messages);
    const [oldest] = this.cache.keys();
    if (this.cache.size > CACHE_SIZE && oldest !== undefined) this.cache.delete(oldest);
    return messages;
  }
}
