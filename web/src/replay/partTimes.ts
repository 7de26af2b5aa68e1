/** When the parts of a run's messages began and ended, as far as it had come at a place of the run. */
import type { AssistantMessage, Chunk, Message, ToolCallPart } from "../partita.gen";
import { networkCall } from "../stream/reduce";
import { CLOSES, OPENS, unwrapped } from "./segments";

/** Milliseconds since the run began. */
export interface Lasted {
  readonly start: number;
  readonly end: number;
}

/** A part, from the event that began it to the one that ended it, if that has come. */
interface Span extends Lasted {
  readonly from: number;
  to: number;
  end: number;
}

/** Tell it the events of a run in their order. */
export class PartTimes {
  private noted = 0;
  private readonly open = new Map<string, Span>();
  private readonly spans = new Map<string, Span[]>(); // several where a step was begun anew

  /** So many events have come; what is told twice is passed over. `messages` are those that there are now. */
  note(place: number, time: number, told: Chunk, messages: () => readonly AssistantMessage[]): void {
    if (place <= this.noted) return;
    this.noted = place;
    const { chunk, path } = unwrapped(told);
    const name = [...path, chunk.type.split("-", 1)[0], chunk.toolCallId ?? chunk.id ?? ""].join("\u0000");
    if (OPENS.has(chunk.type) && !this.open.has(name)) {
      const message = messages().at(-1);
      const found = message && pathTo(message, path, chunk.toolCallId as string | undefined);
      if (message && found !== undefined) this.begin(name, keyOf(message.id, found), place, time);
    } else if (CLOSES.has(chunk.type) && chunk.preliminary !== true) this.end(name, place, time);
  }

  private begin(name: string, key: string, from: number, start: number): void {
    const span: Span = { from, start, to: Number.POSITIVE_INFINITY, end: start };
    this.open.set(name, span);
    this.spans.set(key, [...(this.spans.get(key) ?? []), span]);
  }

  private end(name: string, to: number, end: number): void {
    const span = this.open.get(name);
    if (span) Object.assign(span, { to, end });
    this.open.delete(name);
  }

  /** When a part began and ended; undefined if it was not over when so many events had come. */
  at(place: number, messageId: string, path: string): Lasted | undefined {
    const span = this.spans.get(keyOf(messageId, path))?.findLast(({ from }) => from <= place);
    return span && span.to <= place ? span : undefined;
  }
}

const keyOf = (messageId: string, path: string): string => `${messageId}\u0000${path}`;

/** Where the call of that id is, or else the last part, below calls that lead to it: `2.children.0.1`. */
function pathTo(top: AssistantMessage, calls: readonly string[], callId?: string): string | undefined {
  let path = "";
  let message: Message = top;
  for (const call of calls) {
    const [step, messages] = below(message, call);
    const last = messages.at(-1);
    if (!last) return undefined;
    path += `${step}.children.${messages.length - 1}.`;
    message = last;
  }
  const index = callId === undefined ? message.content.parts.length - 1 : placeOf(message, callId);
  return index < 0 ? undefined : `${path}${index}`;
}

/** The messages below a call, or below the network execution of a message; and where that is. */
function below(message: Message, call: string): readonly [number | "network", readonly Message[]] {
  if (message.role === "assistant" && call === networkCall(message.id))
    return ["network", message.content.networkExecution?.finalResult?.messages ?? []];
  const index = placeOf(message, call);
  return [index, (message.content.parts[index] as ToolCallPart | undefined)?.children ?? []];
}

const placeOf = (message: Message, callId: string): number =>
  message.content.parts.findLastIndex((part) => part.type === "tool-call" && part.id === callId);
