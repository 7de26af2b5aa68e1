/** When the parts of a run's messages started and ended, at any position of the run. */
import type { AssistantMessage, Chunk, Message, ToolCallPart } from "../partita.gen";
import { networkCall } from "../stream/reduce";
import { CLOSES, OPENS, unwrapped } from "./segments";

/** Milliseconds since the start of the run. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/** The time of a part, with the positions of the events that start and end it. */
interface PartSpan extends TimeSpan {
  readonly from: number;
  to: number;
  end: number;
}

/** Records the times of parts from the events of a run in order. */
export class PartTimes {
  private recorded = 0;
  private readonly open = new Map<string, PartSpan>();
  private readonly spans = new Map<string, PartSpan[]>(); // several if a step was restarted

  /** Records the event at a position; repeated events are ignored. `messages` returns the current messages. */
  record(position: number, time: number, event: Chunk, messages: () => readonly AssistantMessage[]): void {
    if (position <= this.recorded) return;
    this.recorded = position;
    const { chunk, path } = unwrapped(event);
    const name = [...path, chunk.type.split("-", 1)[0], chunk.toolCallId ?? chunk.id ?? ""].join("\u0000");
    if (OPENS.has(chunk.type) && !this.open.has(name)) {
      const message = messages().at(-1);
      const found = message && pathTo(message, path, chunk.toolCallId as string | undefined);
      if (message && found !== undefined) this.begin(name, keyOf(message.id, found), position, time);
    } else if (CLOSES.has(chunk.type) && chunk.preliminary !== true) this.end(name, position, time);
  }

  private begin(name: string, key: string, from: number, start: number): void {
    const span: PartSpan = { from, start, to: Number.POSITIVE_INFINITY, end: start };
    this.open.set(name, span);
    this.spans.set(key, [...(this.spans.get(key) ?? []), span]);
  }

  private end(name: string, to: number, end: number): void {
    const span = this.open.get(name);
    if (span) Object.assign(span, { to, end });
    this.open.delete(name);
  }

  /** When a part started and ended; undefined if it had not ended at that position. */
  at(position: number, messageId: string, path: string): TimeSpan | undefined {
    const span = this.spans.get(keyOf(messageId, path))?.findLast(({ from }) => from <= position);
    return span && span.to <= position ? span : undefined;
  }
}

const keyOf = (messageId: string, path: string): string => `${messageId}\u0000${path}`;

/** The path of the call with that id, or of the last part, inside nested calls: `2.children.0.1`. */
function pathTo(top: AssistantMessage, calls: readonly string[], callId?: string): string | undefined {
  let path = "";
  let message: Message = top;
  for (const call of calls) {
    const [step, messages] = nestedMessages(message, call);
    const last = messages.at(-1);
    if (!last) return undefined;
    path += `${step}.children.${messages.length - 1}.`;
    message = last;
  }
  const index = callId === undefined ? message.content.parts.length - 1 : indexOfCall(message, callId);
  return index < 0 ? undefined : `${path}${index}`;
}

/** The messages nested under a call or under the network execution of a message, and its step in the path. */
function nestedMessages(message: Message, call: string): readonly [number | "network", readonly Message[]] {
  if (message.role === "assistant" && call === networkCall(message.id))
    return ["network", message.content.networkExecution?.finalResult?.messages ?? []];
  const index = indexOfCall(message, call);
  return [index, (message.content.parts[index] as ToolCallPart | undefined)?.children ?? []];
}

const indexOfCall = (message: Message, callId: string): number =>
  message.content.parts.findLastIndex((part) => part.type === "tool-call" && part.id === callId);
