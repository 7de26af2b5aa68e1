/** The handlers of chunks of tool calls: inputs, approvals and outputs. */
import type {
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolInputAvailable,
  ToolInputDelta,
  ToolInputError,
  ToolInputStart,
  ToolOutput,
  ToolOutputAvailable,
  ToolOutputChunk,
  ToolOutputDenied,
  ToolOutputError,
  ToolState,
} from "../partita.gen";
import { InvalidChunkError } from "./metadata";
import { type CallSlot, OpenInput, withFields, withoutNulls } from "./slots";
import type { State } from "./state";

type InputChunk = ToolInputStart | ToolInputAvailable | ToolInputError;

export function toolInputStart(state: State, chunk: ToolInputStart): boolean {
  const { toolName: name, dynamic, inputEncoding, title, toolMetadata } = chunk;
  state.inputs.set(
    chunk.toolCallId,
    new OpenInput("", {
      name,
      ...withoutNulls({ dynamic: dynamic || undefined, inputEncoding, title, toolMetadata }),
    }),
  );
  writeCall(state, chunk, "input-streaming", { inputEncoding });
  return true;
}

export function toolInputDelta(state: State, chunk: ToolInputDelta): boolean {
  const source = state.inputs.get(chunk.toolCallId);
  if (!source)
    throw new InvalidChunkError(`tool-input-delta for ${chunk.toolCallId}, whose input is not open`);
  const call = state.callInStep(chunk.toolCallId, source.call.dynamic === true);
  if (call?.source !== source) follow(state, chunk.toolCallId, source, call);
  else if (call) call.hidesRaw = false;
  source.feed(chunk.inputTextDelta);
  return true;
}

export function toolInputAvailable(state: State, chunk: ToolInputAvailable): boolean {
  writeCall(state, chunk, "input-available", { input: chunk.input });
  return true;
}

export function toolInputError(state: State, chunk: ToolInputError): boolean {
  const existing = state.callInStep(chunk.toolCallId);
  const dynamic = existing ? existing.isDynamic : chunk.dynamic === true;
  const output: ToolOutput = { type: "error-text", value: chunk.errorText };
  writeCall(state, { ...chunk, dynamic }, "output-error", { input: chunk.input, output });
  return true;
}

export function toolApprovalRequest(state: State, chunk: ToolApprovalRequest): boolean {
  const call = find(state, chunk.toolCallId);
  const approval = {
    id: chunk.approvalId,
    ...withoutNulls({
      requestReason: chunk.reason,
      isAutomatic: chunk.isAutomatic || undefined,
      signature: chunk.signature,
      descriptor: chunk.approvalDescriptor,
    }),
    ...(chunk.inputSchemaInput === undefined ? {} : { inputSchemaInput: chunk.inputSchemaInput }),
  };
  call.part = { ...call.release(), state: "approval-requested", approval };
  return true;
}

export function toolApprovalResponse(state: State, chunk: ToolApprovalResponse): boolean {
  const call = state.callByApproval(chunk.approvalId);
  if (!call) throw new InvalidChunkError(`no call has the approval request ${chunk.approvalId}`);
  const part = call.release();
  const request = part.approval ?? { id: chunk.approvalId };
  call.part = {
    ...part,
    state: "approval-responded",
    approval: { ...request, approved: chunk.approved, ...withoutNulls({ reason: chunk.reason }) },
    ...withoutNulls({
      providerExecuted: chunk.providerExecuted,
      callProviderMetadata: chunk.providerMetadata,
    }),
  };
  return true;
}

export function toolOutputAvailable(state: State, chunk: ToolOutputAvailable): boolean {
  end(find(state, chunk.toolCallId), chunk, "output-available", asOutput(chunk.output), chunk.preliminary);
  return true;
}

export function toolOutputError(state: State, chunk: ToolOutputError): boolean {
  end(find(state, chunk.toolCallId), chunk, "output-error", { type: "error-text", value: chunk.errorText });
  return true;
}

export function toolOutputDenied(state: State, chunk: ToolOutputDenied): boolean {
  const call = find(state, chunk.toolCallId);
  call.part = { ...call.release(), state: "output-denied" };
  return true;
}

export function toolOutputTyped(state: State, chunk: ToolOutputChunk): boolean {
  const call = find(state, chunk.toolCallId);
  end(call, chunk, STATE_AFTER[chunk.output.type], chunk.output, chunk.preliminary);
  return true;
}

const STATE_AFTER: Record<ToolOutput["type"], ToolState> = {
  text: "output-available",
  json: "output-available",
  content: "output-available",
  "error-text": "output-error",
  "error-json": "output-error",
  interrupted: "output-error",
  "execution-denied": "output-denied",
};

/** The typed output of a plain value: a string is text, other values are JSON. */
function asOutput(value: unknown): ToolOutput | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? { type: "text", value } : { type: "json", value };
}

function find(state: State, callId: string): CallSlot {
  const call = state.callAnywhere(callId);
  if (!call) throw new InvalidChunkError(`no tool call ${callId} in this message`);
  return call;
}

/** Connects a call to an input. The call that was connected before keeps its value. */
function follow(state: State, callId: string, source: OpenInput, found: CallSlot | undefined): void {
  if (source.slot?.source === source) source.slot.release();
  const { name, dynamic, inputEncoding, title, toolMetadata } = source.call;
  let call = found;
  if (call) {
    call.release();
    call.hidesRaw = false;
  } else {
    call = state.pushCall({
      type: "tool-call",
      id: callId,
      name,
      state: "input-streaming",
      ...withoutNulls({ dynamic }),
    });
    call.hidesRaw = dynamic === true;
  }
  call.part = withFields(call.part, {
    name,
    state: "input-streaming",
    inputEncoding,
    output: undefined,
    preliminary: undefined,
    ...withoutNulls({ title, toolMetadata }),
  });
  call.follow(source);
}

/** Replaces or adds a call of the current step. Fields that the chunk does not contain are removed. */
function writeCall(
  state: State,
  chunk: InputChunk,
  toolState: ToolState,
  values: Partial<Pick<ToolCallPart, "input" | "inputEncoding" | "output">>,
): void {
  const { toolCallId: id, toolName: name, dynamic } = chunk;
  const call =
    state.callInStep(id, dynamic === true) ??
    state.pushCall({ type: "tool-call", id, name, state: toolState, ...(dynamic ? { dynamic } : {}) });
  const metadata = toolState === "output-error" ? "resultProviderMetadata" : "callProviderMetadata";
  call.part = withFields(call.release(), {
    name,
    state: toolState,
    input: values.input,
    rawInput: undefined,
    inputEncoding: values.inputEncoding,
    output: values.output,
    preliminary: undefined,
    ...withoutNulls({
      providerExecuted: chunk.providerExecuted,
      title: chunk.type === "tool-input-error" ? undefined : chunk.title,
      toolMetadata: chunk.toolMetadata,
      [metadata]: chunk.providerMetadata,
    }),
  });
}

/** Sets the output of a call. Raw input is kept only for an error of a static call. */
function end(
  call: CallSlot,
  chunk: ToolOutputAvailable | ToolOutputError | ToolOutputChunk,
  toolState: ToolState,
  output: ToolOutput | undefined,
  preliminary?: boolean,
): void {
  const part = call.release();
  const keepsRaw = toolState === "output-error" && !call.isDynamic;
  call.part = withFields(part, {
    state: toolState,
    rawInput: keepsRaw ? part.rawInput : undefined,
    inputEncoding: undefined,
    output,
    preliminary,
    ...withoutNulls({
      providerExecuted: chunk.providerExecuted,
      resultProviderMetadata: chunk.providerMetadata,
      toolMetadata: chunk.toolMetadata,
    }),
  });
}
