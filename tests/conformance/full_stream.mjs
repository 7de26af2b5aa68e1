// One run of `streamText` with a scripted model, seen twice: as `fullStream` and as UI chunks.

import { toSdkSchema } from './json_schema.mjs';
import { collect, release } from './packages.mjs';

/**
 * The parts and the chunks of one run.
 *
 * `parts` are what the model streams; each `finish` ends one call of the model, and the run lasts as
 * many calls. Spellings that differ between releases are adapted, so one list serves all of them.
 * `tools` by name: `{output}`, `{yields: [...]}` (all but the last are preliminary), `{error}` or `null`
 * (the client runs it), each with optional `dynamic`, `title`, `metadata`, `inputSchema` and `approval`
 * ("user-approval"; release 7 also "approved" and "denied").
 * `options`: those of `toUIMessageStream`, with `onError: "message"` to let error texts through, and
 * `abortAfter`: the number of model parts after which the run is aborted.
 */
export async function fullStream({ version, parts, tools = {}, options = {} }) {
  const { sdk, Model, stopAfter } = release(version);
  const { abortAfter, onError, ...send } = options;
  const abort = new AbortController();
  const calls = splitIntoCalls(parts).map(call => call.map(part => adaptPart(version, part)));
  const script = new Script(calls, abortAfter, abort);

  const result = sdk.streamText({
    model: new Model({ doStream: async () => ({ stream: script.next() }) }),
    prompt: 'go',
    tools: makeTools(sdk, tools),
    stopWhen: stopAfter(calls.length),
    maxRetries: 0,
    abortSignal: abort.signal,
    onError() {},
    ...(version === 7 && { toolApproval: approvals(tools) }),
    _internal: { generateId: counter('id'), now: () => 0 },
  });
  const textOf = onError === 'message' && { onError: error => String(error?.message ?? error) };
  const [seen, chunks] = await Promise.all([
    collect(result.fullStream),
    collect(result.toUIMessageStream({ ...send, ...textOf })),
  ]);
  return { parts: seen.map(toPlain), chunks: chunks.map(toPlain) };
}

class Script {
  constructor(calls, abortAfter, abort) {
    this.calls = calls;
    this.left = abortAfter ?? Infinity;
    this.abort = abort;
  }

  next() {
    const parts = this.calls.shift() ?? [];
    return new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'response-metadata', id: 'response', timestamp: new Date(0) });
      },
      pull: controller => {
        if (this.left-- === 0) this.abort.abort();
        else if (parts.length > 0) controller.enqueue(parts.shift());
        else controller.close();
      },
    });
  }
}

function splitIntoCalls(parts) {
  const calls = [[]];
  for (const part of parts) {
    calls.at(-1).push(part);
    if (part.type === 'finish') calls.push([]);
  }
  return calls.at(-1).length > 0 || calls.length === 1 ? calls : calls.slice(0, -1);
}

function adaptPart(version, part) {
  switch (part.type) {
    case 'finish':
      return adaptFinish(version, part);
    case 'error':
      return { ...part, error: toError(part.error) };
    case 'response-metadata':
      return { ...part, timestamp: part.timestamp && new Date(part.timestamp) };
    case 'file':
    case 'reasoning-file':
      return { ...part, data: version === 7 ? toFileData(part.data) : part.data };
    default:
      return part;
  }
}

function adaptFinish(version, { finishReason = 'stop', usage = {}, ...part }) {
  const { inputTokens = 3, outputTokens = 5 } = usage;
  if (version === 5) {
    const totalTokens = inputTokens + outputTokens;
    return { ...part, finishReason, usage: { inputTokens, outputTokens, totalTokens, ...usage } };
  }
  const tokens = count => (typeof count === 'number' ? { total: count } : count);
  return {
    ...part,
    finishReason: finishReason.unified ? finishReason : { unified: finishReason, raw: finishReason },
    usage: { ...usage, inputTokens: tokens(inputTokens), outputTokens: tokens(outputTokens) },
  };
}

function toFileData(data) {
  return typeof data === 'string' ? { type: 'data', data } : data;
}

function toError(value) {
  return typeof value?.message === 'string' ? Object.assign(new Error(value.message), value) : value;
}

function makeTools(sdk, tools) {
  const entries = Object.entries(tools);
  return Object.fromEntries(entries.map(([name, description]) => [name, makeTool(sdk, description ?? {})]));
}

function makeTool(sdk, description) {
  const { dynamic, title, metadata, inputSchema = {}, approval } = description;
  const execute = makeExecute(description);
  return (dynamic ? sdk.dynamicTool : sdk.tool)({
    title,
    metadata,
    inputSchema: toSdkSchema(sdk, inputSchema),
    ...(execute && { execute }),
    ...(approval && { needsApproval: true }), // release 6; 5 and 7 do not look at it
  });
}

function makeExecute(description) {
  if ('error' in description) {
    return async () => {
      throw toError({ message: description.error });
    };
  }
  if ('yields' in description) {
    return async function* () {
      yield* description.yields;
    };
  }
  return 'output' in description ? async () => description.output : undefined;
}

function approvals(tools) {
  const asked = Object.entries(tools).filter(([, description]) => description?.approval);
  return Object.fromEntries(asked.map(([name, { approval }]) => [name, approval]));
}

function counter(prefix) {
  let count = 0;
  return () => `${prefix}-${count++}`;
}

/** A value with its errors and files as plain data. */
function toPlain(value) {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null || typeof value.toJSON === 'function') return value;
  if (isFile(value)) return { base64: value.base64, mediaType: value.mediaType };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}

// The package makes files from a class of its own; a tool's output that looks like one is a plain object.
function isFile(value) {
  return Object.getPrototypeOf(value) !== Object.prototype && 'base64' in value;
}
