/**
 * Chunks in, message out, as the server's own reducer does it: the same chunks give the same message. A delta
 * costs its own length, and what did not change stays the very same object in the next snapshot.
 */
import type {
  AssistantMessage,
  Chunk,
  Interruption,
  Message,
  MessageStart,
  NetworkExecution,
} from "../partita.gen";
import { isObject, Misfit } from "./metadata";
import * as message from "./reduce_message";
import * as tools from "./reduce_tools";
import type { CallSlot, Growing, NetworkSlot } from "./slots";
import { emptyMessage, isCall, State } from "./state";

// biome-ignore lint/suspicious/noExplicitAny: each takes the chunk that its name in the table says
type Handler = (state: State, chunk: any) => boolean;

const nothing = () => false;

/** What each chunk does; it gives whether the message changed for those who watch it. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  start: message.messageStart,
  finish: message.messageFinish,
  abort: nothing,
  "message-metadata": message.messageMetadata,
  error: (state, chunk) => {
    state.errors.push(chunk.errorText);
    return false;
  },
  "start-step": (state) => {
    state.push({ type: "step-start" });
    return false; // seen with the next change
  },
  "finish-step": nothing,
  "reset-step": (state) => state.dropStep(),
  "text-start": message.textStart,
  "text-delta": message.blockDelta,
  "text-end": message.blockEnd,
  "reasoning-start": message.reasoningStart,
  "reasoning-delta": message.blockDelta,
  "reasoning-end": message.blockEnd,
  file: message.adds("file", "url", "mediaType", "providerMetadata"),
  "reasoning-file": message.adds("reasoning-file", "url", "mediaType", "providerMetadata"),
  "source-url": message.adds("source-url", "sourceId", "url", "title", "providerMetadata"),
  "source-document": message.adds(
    "source-document",
    "sourceId",
    "mediaType",
    "title",
    "filename",
    "providerMetadata",
  ),
  custom: message.adds("custom", "kind", "providerMetadata"),
  "steering-message": message.adds("steering-message", "id", "parts"),
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

/** Feed it chunks, look at the message whenever you like. What does not fit is passed over. */
export class Reducer {
  private readonly state: State;
  /** What was passed over, and why. */
  readonly misfits: string[] = [];

  constructor(begun: AssistantMessage | string = "") {
    this.state = new State(typeof begun === "string" ? emptyMessage(begun) : begun);
  }

  /** Take a chunk; whether the message changed for those who watch it. */
  feed(chunk: Chunk): boolean {
    try {
      return apply(this.state, chunk);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      this.misfits.push(error.message);
      return false;
    }
  }

  /** The message as it is now; the very same object until it is fed again. */
  snapshot(): AssistantMessage {
    return this.state.snapshot();
  }

  get errors(): readonly string[] {
    return this.state.errors;
  }

  get finishReason(): string | undefined {
    return this.state.finishReason;
  }
}

/** The message that a stream amounts to, as far as it came. */
export function reduce(chunks: Iterable<Chunk>, begun: AssistantMessage | string = ""): AssistantMessage {
  const reducer = new Reducer(begun);
  for (const chunk of chunks) reducer.feed(chunk);
  return reducer.snapshot();
}

const AT_WORK = new Set(["input-streaming", "input-available", "approval-responded"]);

/** A message that nothing more comes for: open texts are done, and interrupted calls say so. */
export function closeMessage(open: AssistantMessage, interrupted?: Interruption): AssistantMessage {
  const parts = open.content.parts.map((one) => {
    const part =
      isCall(one) && one.children ? { ...one, children: closeAll(one.children, interrupted) } : one;
    if ((part.type === "text" || part.type === "reasoning") && part.state === "streaming")
      return { ...part, state: "done" } as typeof part;
    if (interrupted && isCall(part) && AT_WORK.has(part.state))
      return {
        ...part,
        state: "output-error",
        output: { type: "interrupted", reason: interrupted },
      } as typeof part;
    return part;
  });
  const network = open.content.networkExecution;
  const networkExecution = network && { ...network, ...endOf(network, interrupted) };
  return { ...open, content: { ...open.content, parts, ...(networkExecution ? { networkExecution } : {}) } };
}

const closeAll = (messages: readonly Message[], interrupted?: Interruption): readonly Message[] =>
  messages.map((one) => (one.role === "assistant" ? closeMessage(one, interrupted) : one));

/** The result of an execution, closed; one that has no result was interrupted. */
function endOf({ finalResult }: NetworkExecution, interrupted?: Interruption): Partial<NetworkExecution> {
  const { messages, ...rest } = finalResult ?? {};
  const closed = messages ? { messages: closeAll(messages, interrupted) } : {};
  if (interrupted && !Object.keys(rest).length) return { finalResult: { ...closed, interrupted } };
  return finalResult ? { finalResult: { ...rest, ...closed } } : {};
}

/** Whether a chunk starts an internal message, such as a router's turn. */
export function isInternal(chunk: Chunk): boolean {
  const metadata = chunk.type === "start" ? (chunk as MessageStart).messageMetadata : undefined;
  return isObject(metadata) && metadata.internal === true;
}

/** The messages of a run or of a sub-agent; the last one may still be growing. */
export class MessageSequence implements Growing {
  private whole: readonly Message[];
  private growing: State | null = null;
  private shown: readonly Message[];

  constructor(
    private readonly name: string, // the id of the run or call: messages without an id get one derived from it
    messages: readonly Message[] = [],
  ) {
    this.whole = messages;
    this.shown = messages;
  }

  messages(): readonly Message[] {
    const now = this.growing ? [...this.whole, this.growing.snapshot()] : this.whole;
    const isSame = now.length === this.shown.length && now.every((one, index) => one === this.shown[index]);
    if (!isSame) this.shown = now;
    return this.shown;
  }

  /** Apply a chunk to the growing message, or to a new one that it starts. */
  feed(chunk: Chunk): boolean {
    const starts = chunk.type === "start" ? (chunk as MessageStart).messageId : undefined;
    let state = this.growing;
    if (!state || (starts !== undefined && starts !== state.id)) {
      const begun = this.next(starts);
      state = new State(isInternal(chunk) ? { ...begun, internal: true } : begun);
    }
    const changed = apply(state, chunk);
    if (state !== this.growing) {
      this.settle();
      if (this.whole.at(-1)?.id === state.id) this.whole = this.whole.slice(0, -1);
      this.growing = state;
    }
    return changed;
  }

  append(added: Message): void {
    this.settle();
    this.whole = [...this.whole, added];
  }

  private settle(): void {
    if (this.growing) this.whole = [...this.whole, this.growing.snapshot()];
    this.growing = null;
  }

  private next(starts: string | undefined): AssistantMessage {
    const last = this.growing ? undefined : this.whole.at(-1);
    if (last?.role === "assistant" && (starts === undefined || starts === last.id)) return last;
    return emptyMessage(starts || `${this.name}/${this.messages().length + 1}`);
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

/** What a path begins with: a call or the network execution. */
function descend(state: State, [first]: readonly string[]): CallSlot | NetworkSlot {
  const call = first === undefined ? undefined : state.callAnywhere(first);
  if (call) return call;
  if (state.network && first === networkCall(state.id)) return state.network;
  throw new Misfit(
    first === undefined ? "a sub-agent's path is empty" : `no tool call ${first} for a sub-agent`,
  );
}

function threadOf(parent: CallSlot | NetworkSlot, name: string): MessageSequence {
  if (parent.children instanceof MessageSequence) return parent.children;
  const before = "part" in parent ? parent.part.children : parent.execution.finalResult?.messages;
  return new MessageSequence(name, before ?? []);
}

/** The id of the call that stands for a message's network execution, where there are only calls. */
export const networkCall = (messageId: string): string => `${messageId}:network`;
