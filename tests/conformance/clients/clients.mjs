// The real clients of many releases as a service: one JSON request a line on standard input, one JSON
// answer a line on standard output.
//
// A request is `{client, streams, read}`: a release and bodies of responses. The answer says of each body what
// the client makes of it: `{chunks, error}`, the number of chunks it let in and the error that stopped it;
// with `read` also `{message, readError}`, the message it read and the error that stopped the reading.

import { createInterface } from 'node:readline';

// The newest releases are those of the folder above.
const PACKAGES = { '5.0.277': 'ai5', '6.0.326': 'ai6', '7.0.169': 'ai7' };

globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.debug = console.warn = console.error;

async function collect(stream) {
  const values = [];
  let error = null;
  try {
    for await (const value of stream) values.push(value);
  } catch (thrown) {
    error = String(thrown?.message ?? thrown).slice(0, 300);
  }
  return { values, error };
}

async function receive(sdk, text, read) {
  const body = ReadableStream.from([new TextEncoder().encode(text)]);
  const { values, error } = await collect(new sdk.DefaultChatTransport().processResponseStream(body));
  return { chunks: values.length, error, ...(read ? await readMessage(sdk, values) : {}) };
}

async function readMessage(sdk, chunks) {
  let readError = null;
  let isErrorChunk = false;
  async function* watch() {
    for (const chunk of chunks) {
      isErrorChunk = chunk.type === 'error';
      yield structuredClone(chunk);
    }
  }
  const onError = error => {
    if (!isErrorChunk) readError ??= String(error?.message ?? error).slice(0, 300);
    isErrorChunk = false;
  };
  const stream = ReadableStream.from(watch());
  const { values, error } = await collect(sdk.readUIMessageStream({ stream, onError }));
  return { message: values.at(-1) ?? null, readError: readError ?? error };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { client, streams, read } = JSON.parse(line);
  const sdk = await import(PACKAGES[client] ?? `ai-${client}`);
  const answers = [];
  for (const text of streams) answers.push(await receive(sdk, text, read));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
