// The real packages as a service: one JSON request a line on standard input, one JSON answer a line
// on standard output, in the same order.

import { accumulate, chunkIsValid } from './accumulate.mjs';
import { fullStream } from './full_stream.mjs';
import { generate, modelMessages, partialJson, validate } from './messages.mjs';

const OPERATIONS = {
  accumulate,
  chunk_valid: chunkIsValid,
  full_stream: fullStream,
  generate,
  model_messages: modelMessages,
  partial_json: partialJson,
  validate,
};

// A run that fails also rejects promises nobody here asked for.
process.on('unhandledRejection', () => {});

/** The answer, or `{"failure": text}` for a bad request: what a package throws is part of an answer. */
async function respond(line) {
  try {
    const { op, ...request } = JSON.parse(line);
    if (!Object.hasOwn(OPERATIONS, op)) throw new Error(`no operation ${op}`);
    return await OPERATIONS[op](request);
  } catch (error) {
    return { failure: error.stack };
  }
}

// Not `readline`: it also breaks lines at U+2028, which JSON leaves as it is.
async function* lines(input) {
  let rest = '';
  for await (const text of input.setEncoding('utf8')) {
    const pieces = (rest + text).split('\n');
    rest = pieces.pop();
    yield* pieces;
  }
}

for await (const line of lines(process.stdin)) {
  process.stdout.write(`${JSON.stringify(await respond(line))}\n`);
}
