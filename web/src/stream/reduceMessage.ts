/** The handlers of all chunks except those of tool calls. */
import type {
  AssistantPart,
  DataChunk,
  DataPart,
  MessageStart,
  NetworkExecutionEnd,
  NetworkExecutionStart,
  ReasoningDelta,
  ReasoningEnd,
  ReasoningStart,
  TextDelta,
  TextEnd,
  TextStart,
} from "../partita.gen";
import { InvalidChunkError, mergeMetadata } from "./metadata";
import { BlockSlot, NetworkSlot, withoutNulls } from "./slots";
import { emptyMessage, type State } from "./state";

export function textStart(state: State, { id, providerMetadata }: TextStart): boolean {
  const block = new BlockSlot({
    type: "text",
    text: "",
    state: "streaming",
    ...withoutNulls({ providerMetadata }),
  });
  state.texts.set(id, block);
  state.pushBlock(block);
  return true;
}

export function reasoningStart(state: State, { id, providerMetadata }: ReasoningStart): boolean {
  const block = new BlockSlot({
    type: "reasoning",
    text: "",
    id,
    state: "streaming",
    ...withoutNulls({ providerMetadata }),
  });
  state.reasonings.set(id, block);
  state.pushBlock(block);
  return true;
}

export function blockDelta(state: State, chunk: TextDelta | ReasoningDelta): boolean {
  const block = (chunk.type === "text-delta" ? state.texts : state.reasonings).get(chunk.id);
  if (!block) throw new InvalidChunkError(`${chunk.type} for ${chunk.id}, which is not open`);
  block.write(chunk.delta);
  if (chunk.providerMetadata) block.change({ providerMetadata: chunk.providerMetadata });
  return true;
}

export function blockEnd(state: State, chunk: TextEnd | ReasoningEnd): boolean {
  const blocks = chunk.type === "text-end" ? state.texts : state.reasonings;
  const block = blocks.get(chunk.id);
  if (!block) throw new InvalidChunkError(`${chunk.type} for ${chunk.id}, which is not open`);
  blocks.delete(chunk.id);
  const citations = chunk.type === "text-end" ? chunk.citations : undefined;
  block.change({ state: "done", ...withoutNulls({ providerMetadata: chunk.providerMetadata, citations }) });
  return true;
}

/** Starts or continues a message. Another id starts another message and discards the previous one. */
export function messageStart(state: State, chunk: MessageStart): boolean {
  if (chunk.messageId !== undefined && chunk.messageId !== state.id) {
    state.reset(emptyMessage(chunk.messageId, state.base));
  }
  const changed = messageMetadata(state, chunk);
  return changed || chunk.messageId !== undefined;
}

export function messageMetadata(state: State, chunk: { readonly messageMetadata?: unknown }): boolean {
  if (chunk.messageMetadata === undefined || chunk.messageMetadata === null) return false;
  state.metadata = mergeMetadata(state.metadata, chunk.messageMetadata);
  return true;
}

/** A handler that adds a part with these fields of the chunk. */
export function addPart(type: AssistantPart["type"], ...fields: readonly string[]) {
  return (state: State, chunk: Readonly<Record<string, unknown>>): boolean => {
    const values = Object.fromEntries(fields.map((field) => [field, chunk[field]]));
    state.push({ type, ...withoutNulls(values) } as AssistantPart);
    return true;
  };
}

/** Adds data, or replaces data of the same name and id. Transient data is not added. */
export function data(state: State, chunk: DataChunk): boolean {
  if (chunk.transient) return false;
  const { type, data: value, id, transient, ...rest } = chunk;
  const name = type.slice("data-".length);
  const slot = id === undefined ? undefined : state.dataSlot(name, id);
  if (slot) {
    const { data: _before, ...part } = slot.part;
    slot.part = (value === undefined ? part : { ...part, data: value }) as DataPart;
    return true;
  }
  const extra = Object.entries({ ...rest, ...(transient === undefined ? {} : { transient }) });
  const part: DataPart = {
    type: "data",
    name,
    ...(value === undefined ? {} : { data: value }),
    ...withoutNulls({ id }),
    // Members whose name has another meaning in a part are renamed.
    ...Object.fromEntries(extra.map(([key, item]) => [RESERVED.has(key) ? `foreign:${key}` : key, item])),
  };
  state.push(part);
  return true;
}

const RESERVED = new Set(["name", "providerMetadata"]);

export function networkStart(state: State, chunk: NetworkExecutionStart): boolean {
  const { primitiveType, primitiveId, selectionReason, input, iteration } = chunk;
  const execution = {
    primitiveType,
    primitiveId,
    ...withoutNulls({ selectionReason, iteration }),
    ...(input === undefined ? {} : { input }),
  };
  if (!state.network) {
    state.network = new NetworkSlot(execution);
    return true;
  }
  const { finalResult: _result, ...known } = state.network.execution;
  if (JSON.stringify(known) !== JSON.stringify(execution))
    throw new InvalidChunkError("a second network-execution-start in one message");
  return false;
}

export function networkEnd(state: State, { finalResult }: NetworkExecutionEnd): boolean {
  const network = state.network;
  if (!network) throw new InvalidChunkError("network-execution-end without a start");
  const known = network.settle().finalResult;
  let result = finalResult;
  if (result?.messages?.length)
    network.children = null; // the result contains all messages
  else if (result && known?.messages) result = { ...result, messages: known.messages };
  const { finalResult: _before, ...rest } = network.execution;
  network.execution = result ? { ...rest, finalResult: result } : rest;
  return true;
}
