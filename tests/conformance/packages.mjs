// The three releases side by side, with the few names that differ between them.

import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';
import { MockLanguageModelV2 } from 'ai5/test';
import { MockLanguageModelV3 } from 'ai6/test';
import { MockLanguageModelV4 } from 'ai7/test';

// Standard output carries answers only: whatever the packages have to say goes to standard error.
globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.debug = console.error;

const RELEASES = {
  5: { sdk: ai5, Model: MockLanguageModelV2, stopAfter: ai5.stepCountIs },
  6: { sdk: ai6, Model: MockLanguageModelV3, stopAfter: ai6.stepCountIs },
  7: { sdk: ai7, Model: MockLanguageModelV4, stopAfter: ai7.isStepCount },
};

/** The release of a major version, or an error that names the ones there are. */
export function release(version) {
  if (!Object.hasOwn(RELEASES, version)) {
    throw new Error(`no release ${version}, only ${Object.keys(RELEASES).join(', ')}`);
  }
  return RELEASES[version];
}

const LONGEST_MESSAGE = 300;

/** An error as plain data: its name, the start of its message, and where it points, if it does. */
export function describe(error) {
  const { name, message, chunkType, chunkId, cause } = Object(error);
  return {
    name: name ?? typeof error,
    message: String(message ?? error).slice(0, LONGEST_MESSAGE),
    chunkType,
    chunkId,
    paths: cause?.issues?.map(issue => issue.path),
  };
}

/** Every value of a stream, in order. */
export async function collect(stream) {
  const values = [];
  for await (const value of stream) values.push(value);
  return values;
}
