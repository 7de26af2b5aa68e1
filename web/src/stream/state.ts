/** The state of a streaming message: its slots, open blocks and inputs, and an index of calls. */
import type { AssistantMessage, AssistantPart, DataPart, ToolCallPart } from "../partita.gen";
import {
  type BlockSlot,
  CallSlot,
  DataSlot,
  FixedSlot,
  NetworkSlot,
  OpenInput,
  type Slot,
  withoutNulls,
} from "./slots";

/** A message without parts, in the same thread and of the same run as `like`. */
export function emptyMessage(id: string, like?: AssistantMessage): AssistantMessage {
  const { threadId, resourceId, runId, internal } = like ?? ({} as Partial<AssistantMessage>);
  return {
    role: "assistant",
    id,
    type: "text",
    content: { parts: [], format: 2 },
    ...withoutNulls({ threadId, resourceId, runId, internal: internal || undefined }),
  };
}

const dataKey = (name: string, id: string): string => JSON.stringify([name, id]);

export class State {
  readonly errors: string[] = [];
  base!: AssistantMessage;
  id!: string;
  metadata: unknown;
  network: NetworkSlot | null = null;
  texts = new Map<string, BlockSlot>();
  reasonings = new Map<string, BlockSlot>();
  inputs = new Map<string, OpenInput>();
  private slots: Slot[] = [];
  private step = 0; // index of the first part of the current step
  private calls = new Map<string, CallSlot[]>();
  private data = new Map<string, DataSlot>();
  private shown: AssistantMessage | null = null;

  constructor(message: AssistantMessage) {
    this.reset(message);
  }

  /** Replaces the state by that of a message. */
  reset(message: AssistantMessage): void {
    this.base = message;
    this.id = message.id;
    this.metadata = message.content.metadata;
    const network = message.content.networkExecution;
    this.network = network ? new NetworkSlot(network) : null;
    this.slots = [];
    this.step = 0;
    this.calls = new Map();
    this.data = new Map();
    this.inputs = new Map();
    this.closeBlocks();
    this.touch();
    for (const part of message.content.parts) this.push(part);
    this.reopenInputs();
  }

  closeBlocks(): void {
    this.texts = new Map();
    this.reasonings = new Map();
  }

  /** Marks the state as changed: the next snapshot is a new message. */
  touch(): void {
    this.shown = null;
  }

  push(part: AssistantPart): void {
    if (isCall(part)) this.pushCall(part);
    else if (isData(part)) this.pushData(part);
    else {
      this.slots.push(new FixedSlot(part));
      if (part.type === "step-start") this.step = this.slots.length;
    }
  }

  pushCall(part: ToolCallPart): CallSlot {
    const call = new CallSlot(part, this.slots.length);
    this.slots.push(call);
    const same = this.calls.get(part.id);
    if (same) same.push(call);
    else this.calls.set(part.id, [call]);
    return call;
  }

  private pushData(part: DataPart): void {
    const slot = new DataSlot(part);
    this.slots.push(slot);
    if (part.id === undefined) return;
    const key = dataKey(part.name, part.id);
    if (!this.data.has(key)) this.data.set(key, slot);
  }

  pushBlock(block: BlockSlot): void {
    this.slots.push(block);
  }

  dataSlot(name: string, id: string): DataSlot | undefined {
    return this.data.get(dataKey(name, id));
  }

  /** The first call with that id in the current step, optionally of a kind. */
  callInStep(id: string, dynamic?: boolean): CallSlot | undefined {
    return this.calls
      .get(id)
      ?.find((call) => call.at >= this.step && (dynamic === undefined || call.isDynamic === dynamic));
  }

  /** The first call with that id in the current step, else the last one in the message. */
  callAnywhere(id: string): CallSlot | undefined {
    return this.callInStep(id) ?? this.calls.get(id)?.at(-1);
  }

  callByApproval(approvalId: string): CallSlot | undefined {
    return this.slots.find(
      (slot): slot is CallSlot => slot instanceof CallSlot && slot.part.approval?.id === approvalId,
    );
  }

  /** Removes the parts of the current step and closes everything. Returns whether there were any. */
  dropStep(): boolean {
    const dropped = this.slots.splice(this.step);
    for (const slot of dropped) this.forget(slot);
    this.closeBlocks();
    this.inputs.clear();
    return dropped.length > 0;
  }

  /** The current message; the same object until the next chunk. */
  snapshot(): AssistantMessage {
    this.shown ??= this.compose();
    return this.shown;
  }

  private compose(): AssistantMessage {
    const parts = this.slots.map((slot) => slot.settle());
    const { content: text, metadata: _metadata, networkExecution: _network, ...content } = this.base.content;
    const isUnchanged =
      parts.length === this.base.content.parts.length &&
      parts.every((part, index) => part === this.base.content.parts[index]);
    return {
      ...this.base,
      id: this.id,
      type: this.base.type === "event" ? "event" : this.hasCalls() ? "tool" : "text",
      content: {
        ...content,
        parts,
        ...(text !== undefined && isUnchanged ? { content: text } : {}),
        ...(this.metadata === undefined ? {} : { metadata: this.metadata }),
        ...(this.network ? { networkExecution: this.network.settle() } : {}),
      },
    };
  }

  private hasCalls(): boolean {
    for (const calls of this.calls.values()) if (calls.length) return true;
    return false;
  }

  private forget(slot: Slot): void {
    if (slot instanceof CallSlot) {
      const same = this.calls.get(slot.part.id) ?? [];
      same.splice(same.indexOf(slot), 1);
    } else if (slot instanceof DataSlot && slot.part.id !== undefined) {
      const key = dataKey(slot.part.name, slot.part.id);
      if (this.data.get(key) === slot) this.data.delete(key);
    }
  }

  /** Reopens the inputs that were streaming in the last step of a continued message. */
  private reopenInputs(): void {
    for (const slot of this.slots.slice(this.step)) {
      if (!(slot instanceof CallSlot) || slot.part.state !== "input-streaming") continue;
      const text = typeof slot.part.rawInput === "string" ? slot.part.rawInput : "";
      this.inputs.set(slot.part.id, new OpenInput(text, slot.part));
    }
  }
}

export const isCall = (part: { readonly type: string }): part is ToolCallPart => part.type === "tool-call";
const isData = (part: { readonly type: string }): part is DataPart => part.type === "data";
