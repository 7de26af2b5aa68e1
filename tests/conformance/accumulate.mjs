// Chunks in, message out, by the package's own reader and, for event streams, its own client.

import { collect, describe, release } from './packages.mjs';

/** What `readUIMessageStream` makes of `chunks`, or of the response body `sse`. */
export async function accumulate({ version, chunks, sse, message, mode, trace }) {
  const { sdk } = release(version);
  const wire = sse ?? (mode === 'sse' ? toEvents(chunks) : undefined);
  const source = wire === undefined ? chunks : parseEvents(sdk, wire);

  const { snapshots, state, error, errorChunks, parsed } = await read(sdk, source, message);
  const final = snapshots.at(-1) ?? null;
  return {
    final,
    state: JSON.stringify(state) === JSON.stringify(final) ? undefined : state,
    snapshots: snapshots.length,
    error: error && describe(error),
    errorChunks,
    invalidChunks: chunks && (await invalidChunks(version, chunks)),
    parsed: wire === undefined ? undefined : parsed,
    trace: trace ? snapshots : undefined,
  };
}

/** Whether this release's client would let a chunk in. */
export async function chunkIsValid({ version, chunk }) {
  const { uiMessageChunkSchema } = release(version).sdk;
  const { success } = await uiMessageChunkSchema().validate(chunk);
  return { valid: success };
}

async function invalidChunks(version, chunks) {
  const answers = await Promise.all(chunks.map(chunk => chunkIsValid({ version, chunk })));
  return answers.flatMap(({ valid }, index) => (valid ? [] : [index]));
}

function toEvents(chunks) {
  const events = chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`);
  return `${events.join('')}data: [DONE]\n\n`;
}

function parseEvents(sdk, text) {
  const body = ReadableStream.from([new TextEncoder().encode(text)]);
  return new sdk.DefaultChatTransport().processResponseStream(body);
}

/** One reading: its snapshots, the state after it, its error chunks and the error that stopped it. */
async function read(sdk, source, message) {
  const run = { snapshots: [], state: undefined, error: null, errorChunks: [], parsed: undefined };
  let current;
  let delivered = 0;
  let id = message?.id ?? '';
  // No stage buffers: when the next chunk is asked for, the reader is done with this one.
  async function* watch() {
    try {
      for await (const chunk of source) {
        delivered += 1;
        current = structuredClone(chunk); // a data chunk becomes a part of the message and changes with it
        if (current?.type === 'start') id = current.messageId ?? id;
        yield current;
      }
    } catch (error) {
      run.parsed = delivered; // the parser's error; one of the reader's never comes back here
      throw error;
    }
    run.parsed = delivered;
    current = undefined;
    yield { type: 'start', messageId: id }; // repeats the id, so it changes nothing and shows the state
  }
  const options = {
    message: structuredClone(message),
    stream: ReadableStream.from(watch()),
    onError(error) {
      if (current?.type === 'error') run.errorChunks.push(error.message);
      else run.error = error;
      current = undefined; // an error chunk is reported once: what follows is about the stream
    },
  };
  try {
    run.snapshots = await collect(sdk.readUIMessageStream(options));
  } catch (error) {
    run.error = error; // the message to continue is no message
  }
  if (run.error === null) run.state = run.snapshots.pop();
  return run;
}
