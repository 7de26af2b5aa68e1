/**
 * The parts of a message while it grows. A slot gives the very same object until something about it changes, so
 * that what is drawn of it need not be drawn again.
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
import { PartialJson } from "./partial_json";

/** The same value with other fields; those that are undefined are gone. */
export function having<T extends object>(value: T, changes: Record<string, unknown>): T {
  const result: Record<string, unknown> = { ...value, ...changes };
  for (const key of Object.keys(changes)) if (changes[key] === undefined) delete result[key];
  return result as T;
}

/** An object without the members that are undefined or null. */
export function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T;
}

export interface Slot {
  settle(): AssistantPart;
}

/** A part that will not change. */
export class FixedSlot implements Slot {
  constructor(private readonly part: AssistantPart) {}

  settle(): AssistantPart {
    return this.part;
  }
}

/** A text or a piece of reasoning that is being written. */
export class BlockSlot implements Slot {
  private text: string;

  constructor(private part: TextPart | ReasoningPart) {
    this.text = part.text;
  }

  write(delta: string): void {
    this.text += delta;
  }

  change(fields: Record<string, unknown>): void {
    this.part = having(this.part, fields);
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

/** The input of a call while the model writes it, and what its start chunk said of the call. */
export class OpenInput {
  slot: CallSlot | null = null;
  private readonly written: PartialJson;

  constructor(
    text: string,
    readonly call: Pick<ToolCallPart, "name" | "dynamic" | "inputEncoding" | "title" | "toolMetadata">,
  ) {
    this.written = new PartialJson(text);
  }

  feed(delta: string): void {
    this.written.feed(delta);
  }

  get text(): string {
    return this.written.text;
  }

  value(): unknown {
    return this.call.inputEncoding === "text" ? this.text : this.written.value();
  }
}

/** The messages of a sub-agent while they grow; the same list until something in it changes. */
export interface Growing {
  messages(): readonly Message[];
}

/** A tool call. While `source` is set, its input is whatever that holds when someone looks. */
export class CallSlot implements Slot {
  source: OpenInput | null = null;
  hidesRaw = false; // the first delta of a dynamic call in a new step leaves no raw text
  children: Growing | null = null;
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
      this.part = having(this.part, { input: this.source.value(), rawInput });
    }
    const children = this.children?.messages();
    if (children && children !== this.part.children) this.part = { ...this.part, children };
    return this.part;
  }

  /** Settle, and stop following the input: a later chunk has the word. */
  release(): ToolCallPart {
    const part = this.settle();
    this.source = null;
    return part;
  }
}

/** What a network chose, and the messages of what it chose while they grow. */
export class NetworkSlot {
  children: Growing | null = null;

  constructor(public execution: NetworkExecution) {}

  settle(): NetworkExecution {
    const messages = this.children?.messages();
    if (messages && messages !== this.execution.finalResult?.messages) {
      this.execution = { ...this.execution, finalResult: { ...this.execution.finalResult, messages } };
    }
    return this.execution;
  }
}
