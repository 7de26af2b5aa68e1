/**
 * The parts of a streaming message. A slot returns the same object until it changes, so that unchanged parts do not
 * render again.
 */
import type {
  AssistantPart,
  DataPart,
  Message,
  NetworkExecution,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from "../partita.gen";
import { PartialJson } from "./partialJson";

/** A copy with changed fields. Fields that are undefined are removed. */
export function withFields<T extends object>(value: T, changes: Record<string, unknown>): T {
  const result: Record<string, unknown> = { ...value, ...changes };
  for (const key of Object.keys(changes)) if (changes[key] === undefined) delete result[key];
  return result as T;
}

/** An object without members that are undefined or null. */
export function withoutNulls<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T;
}

export interface Slot {
  settle(): AssistantPart;
}

/** A part that does not change. */
export class FixedSlot implements Slot {
  constructor(private readonly part: AssistantPart) {}

  settle(): AssistantPart {
    return this.part;
  }
}

/** A streaming text or reasoning. */
export class BlockSlot implements Slot {
  private text: string;

  constructor(private part: TextPart | ReasoningPart) {
    this.text = part.text;
  }

  write(delta: string): void {
    this.text += delta;
  }

  change(fields: Record<string, unknown>): void {
    this.part = withFields(this.part, fields);
  }

  settle(): AssistantPart {
    if (this.part.text !== this.text) this.part = { ...this.part, text: this.text };
    return this.part;
  }
}

/** Data that a later chunk may replace. */
export class DataSlot implements Slot {
  constructor(public part: DataPart) {}

  settle(): AssistantPart {
    return this.part;
  }
}

/** The streaming input of a call, and the facts in its start chunk. */
export class OpenInput {
  slot: CallSlot | null = null;
  private readonly json: PartialJson;

  constructor(
    text: string,
    readonly call: Pick<ToolCallPart, "name" | "dynamic" | "inputEncoding" | "title" | "toolMetadata">,
  ) {
    this.json = new PartialJson(text);
  }

  feed(delta: string): void {
    this.json.feed(delta);
  }

  get text(): string {
    return this.json.text;
  }

  value(): unknown {
    return this.call.inputEncoding === "text" ? this.text : this.json.value();
  }
}

/** The streaming messages of a sub-agent; the same list until one of them changes. */
export interface StreamingMessages {
  messages(): readonly Message[];
}

/** A tool call. While `source` is set, its input is the current value of that. */
export class CallSlot implements Slot {
  source: OpenInput | null = null;
  hidesRaw = false; // the first delta of a dynamic call in a new step creates no raw input
  children: StreamingMessages | null = null;
  private seen: string | null = null;

  constructor(
    public part: ToolCallPart,
    readonly at: number,
  ) {}

  get isDynamic(): boolean {
    return this.part.dynamic === true;
  }

  follow(source: OpenInput): void {
    this.source = source;
    this.seen = null;
    source.slot = this;
  }

  settle(): ToolCallPart {
    if (this.source && this.seen !== this.source.text) {
      this.seen = this.source.text;
      const rawInput = this.hidesRaw ? undefined : this.seen;
      this.part = withFields(this.part, { input: this.source.value(), rawInput });
    }
    const children = this.children?.messages();
    if (children && children !== this.part.children) this.part = { ...this.part, children };
    return this.part;
  }

  /** Returns the part, and disconnects it from its input. */
  release(): ToolCallPart {
    const part = this.settle();
    this.source = null;
    return part;
  }
}

/** A network execution with its streaming messages. */
export class NetworkSlot {
  children: StreamingMessages | null = null;

  constructor(public execution: NetworkExecution) {}

  settle(): NetworkExecution {
    const messages = this.children?.messages();
    if (messages && messages !== this.execution.finalResult?.messages) {
      this.execution = { ...this.execution, finalResult: { ...this.execution.finalResult, messages } };
    }
    return this.execution;
  }
}
