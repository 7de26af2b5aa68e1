/**
 * Reduces chunks to a message, with the same result as the reducer of the server. Applying a delta takes time
 * proportional to its length. Unchanged parts stay the same objects in the next snapshot.
 */
import type { AssistantMessage, Chunk, Message, MessageStart } from "../partita.gen";
import { InvalidChunkError, isObject } from "./metadata";
import * as message from "./reduceMessage";
import * as tools from "./reduceTools";
import type { CallSlot, NetworkSlot, StreamingMessages } from "./slots";
import { emptyMessage, State } from "./state";

// biome-ignore lint/suspicious/noExplicitAny: the type of the chunk depends on its key in the table
type Handler = (state: State, chunk: any) => boolean;

const ignore = () => false;

/** The handler of each chunk. It returns whether the message changed visibly. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  start: message.messageStart,
  finish: message.messageMetadata,
  abort: ignore,
  "message-metadata": message.messageMetadata,
  error: (state, chunk) => {
    state.errors.push(chunk.errorText);
    return false;
  },
  "start-step": (state) => {
    state.push({ type: "step-start" });
    return false; // visible with the next change
  },
  "finish-step": ignore,
  "reset-step": (state) => state.dropStep(),
  "text-start": message.textStart,
  "text-delta": message.blockDelta,
  "text-end": message.blockEnd,
  "reasoning-start": message.reasoningStart,
  "reasoning-delta": message.blockDelta,
  "reasoning-end": message.blockEnd,
  file: message.addPart("file", "url", "mediaType", "providerMetadata"),
  "reasoning-file": message.addPart("reasoning-file", "url", "mediaType", "providerMetadata"),
  "source-url": message.addPart("source-url", "sourceId", "url", "title", "providerMetadata"),
  "source-document": message.addPart(
    "source-document",
    "sourceId",
    "mediaType",
    "title",
    "filename",
    "providerMetadata",
  ),
  custom: message.addPart("custom", "kind", "providerMetadata"),
  "steering-message": message.addPart("steering-message", "id", "parts"),
  "tool-input-start": tools.toolInputStart,
  "tool-input-delta": tools.toolInputDelta,
  "tool-input-available": tools.toolInputAvailable,
  "tool-input-error": tools.toolInputError,
  "tool-approval-request": tools.toolApprovalRequest,
  "tool-approval-response": tools.toolApprovalResponse,
  "tool-output-available": tools.toolOutputAvailable,
  "tool-output-error": tools.toolOutputError,
  "tool-output-denied": tools.toolOutputDenied,
  "tool-output-typed": tools.toolOutputTyped,
  "network-execution-start": message.networkStart,
  "network-execution-end": message.networkEnd,
  child: (state, chunk) => childChunk(state, chunk.path, chunk.chunk),
  "child-message": (state, chunk) => childMessage(state, chunk.path, chunk.message),
};

function apply(state: State, chunk: Chunk): boolean {
  const handler = Object.hasOwn(HANDLERS, chunk.type)
    ? HANDLERS[chunk.type]
    : chunk.type.startsWith("data-")
      ? (message.data as Handler)
      : undefined;
  state.touch();
  return handler?.(state, chunk) ?? false;
}

/** Reduces chunks to a message. Invalid chunks are skipped. */
export class Reducer {
  private readonly state: State;
  /** The errors of skipped chunks. */
  readonly invalid: string[] = [];

  constructor(initial: AssistantMessage | string = "") {
    this.state = new State(typeof initial === "string" ? emptyMessage(initial) : initial);
  }

  /** Applies a chunk. Returns whether the message changed visibly. */
  feed(chunk: Chunk): boolean {
    try {
      return apply(this.state, chunk);
    } catch (error) {
      if (!(error instanceof InvalidChunkError)) throw error;
      this.invalid.push(error.message);
      return false;
    }
  }

  /** The current message; the same object until the next chunk. */
  snapshot(): AssistantMessage {
    return this.state.snapshot();
  }

  get errors(): readonly string[] {
    return this.state.errors;
  }
}

/** Whether a chunk starts an internal message, such as that of a router. */
export function isInternal(chunk: Chunk): boolean {
  const metadata = chunk.type === "start" ? (chunk as MessageStart).messageMetadata : undefined;
  return isObject(metadata) && metadata.internal === true;
}

/** The messages of a run or of a sub-agent. The last one may still be streaming. */
export class MessageSequence implements StreamingMessages {
  private completed: readonly Message[];
  private current: State | null = null;
  private shown: readonly Message[];

  constructor(
    private readonly name: string, // the id of the run or call: messages without an id get one derived from it
    messages: readonly Message[] = [],
  ) {
    this.completed = messages;
    this.shown = messages;
  }

  messages(): readonly Message[] {
    const now = this.current ? [...this.completed, this.current.snapshot()] : this.completed;
    const isSame = now.length === this.shown.length && now.every((one, index) => one === this.shown[index]);
    if (!isSame) this.shown = now;
    return this.shown;
  }

  /** Applies a chunk to the current message, or to a new one that it starts. */
  feed(chunk: Chunk): boolean {
    const startId = chunk.type === "start" ? (chunk as MessageStart).messageId : undefined;
    let state = this.current;
    if (!state || (startId !== undefined && startId !== state.id)) {
      const initial = this.next(startId);
      state = new State(isInternal(chunk) ? { ...initial, internal: true } : initial);
    }
    const changed = apply(state, chunk);
    if (state !== this.current) {
      this.settle();
      if (this.completed.at(-1)?.id === state.id) this.completed = this.completed.slice(0, -1);
      this.current = state;
    }
    return changed;
  }

  append(added: Message): void {
    this.settle();
    this.completed = [...this.completed, added];
  }

  private settle(): void {
    if (this.current) this.completed = [...this.completed, this.current.snapshot()];
    this.current = null;
  }

  private next(startId: string | undefined): AssistantMessage {
    const last = this.current ? undefined : this.completed.at(-1);
    if (last?.role === "assistant" && (startId === undefined || startId === last.id)) return last;
    return emptyMessage(startId || `${this.name}/${this.messages().length + 1}`);
  }
}

function childChunk(state: State, path: readonly string[], chunk: Chunk): boolean {
  const parent = descend(state, path);
  const thread = threadOf(parent, path[0] as string);
  const rest = path.slice(1);
  const changed = thread.feed(rest.length ? { type: "child", path: rest, chunk } : chunk);
  parent.children = thread;
  return changed;
}

function childMessage(state: State, path: readonly string[], added: Message): boolean {
  const parent = descend(state, path);
  const thread = threadOf(parent, path[0] as string);
  const rest = path.slice(1);
  if (rest.length) thread.feed({ type: "child-message", path: rest, message: added });
  else thread.append(added);
  parent.children = thread;
  return true;
}

/** The first element of a path: a call or the network execution. */
function descend(state: State, [first]: readonly string[]): CallSlot | NetworkSlot {
  const call = first === undefined ? undefined : state.callAnywhere(first);
  if (call) return call;
  if (state.network && first === networkCall(state.id)) return state.network;
  throw new InvalidChunkError(
    first === undefined ? "a sub-agent's path is empty" : `no tool call ${first} for a sub-agent`,
  );
}

function threadOf(parent: CallSlot | NetworkSlot, name: string): MessageSequence {
  if (parent.children instanceof MessageSequence) return parent.children;
  const before = "part" in parent ? parent.part.children : parent.execution.finalResult?.messages;
  return new MessageSequence(name, before ?? []);
}

/** The id that represents the network execution of a message in paths of calls. */
export const networkCall = (messageId: string): string => `${messageId}:network`;
