// UI messages: conversion for a model, validation, and the partial JSON of tool input.

import { toSdkSchema } from './json_schema.mjs';
import { describe, release } from './packages.mjs';

const typeAsText = part => ({ type: 'text', text: `[${part.type}]` });

const CONVERT_DATA_PART = {
  'type-as-text': typeAsText,
  'only-with-id': part => (part.id == null ? undefined : typeAsText(part)),
  'as-file': () => ({ type: 'file', mediaType: 'application/json', data: 'data:application/json,1' }),
};

const TO_MODEL_OUTPUT = {
  wrap: ({ output }) => ({ type: 'json', value: { wrapped: output } }),
  content: ({ toolCallId }) => ({ type: 'content', value: [{ type: 'text', text: `ran ${toolCallId}` }] }),
};

/** What `convertToModelMessages` gives for `messages`. */
export async function modelMessages({ version, messages, options = {} }) {
  const { sdk } = release(version);
  const { tools, convertDataPart, ...rest } = options;
  const settings = {
    ...rest,
    ...(convertDataPart && { convertDataPart: CONVERT_DATA_PART[convertDataPart] }),
    ...(tools && { tools: mapValues(tools, kind => toolThatShows(version, kind)) }),
  };
  try {
    return { result: await sdk.convertToModelMessages(messages, settings), error: null };
  } catch (error) {
    return { result: null, error: describe(error) };
  }
}

/** The prompt that a model gets when `generateText` is given `messages`. No address is fetched. */
export async function generate({ version, messages }) {
  const { sdk, Model } = release(version);
  const prompts = [];
  const model = new Model({
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      return ANSWER[version];
    },
  });
  try {
    await sdk.generateText({ model, messages, maxRetries: 0, ...(version > 6 && { allowSystemInMessages: true }) });
    return { prompt: prompts[0], error: null };
  } catch (error) {
    return { prompt: null, error: describe(error) };
  }
}

const COUNTED = { total: 1 };
const ANSWER = {
  5: {
    content: [{ type: 'text', text: 'ok' }],
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    warnings: [],
  },
};
ANSWER[6] = ANSWER[7] = {
  ...ANSWER[5],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: COUNTED, outputTokens: COUNTED },
};

// Release 5 hands over the bare output and no call id: there "content" reads `ran undefined`.
function toolThatShows(version, kind) {
  const show = TO_MODEL_OUTPUT[kind];
  const toModelOutput = show && (version === 5 ? output => show({ output }) : show);
  return { inputSchema: {}, toModelOutput };
}

/** What `safeValidateUIMessages` says of `messages`. */
export async function validate({ version, messages, options = {} }) {
  const { sdk } = release(version);
  const schema = value => value && toSdkSchema(sdk, value);
  const answer = await sdk.safeValidateUIMessages({
    messages,
    metadataSchema: schema(options.metadataSchema),
    dataSchemas: options.dataSchemas && mapValues(options.dataSchemas, schema),
    tools:
      options.tools &&
      mapValues(options.tools, tool => ({
        inputSchema: schema(tool.inputSchema),
        outputSchema: schema(tool.outputSchema),
      })),
  });
  return answer.success
    ? { success: true, data: answer.data, error: null }
    : { success: false, data: null, error: describe(answer.error) };
}

/** What `parsePartialJson` reads in a text that may be cut off. */
export async function partialJson({ version, text }) {
  const { state, value } = await release(version).sdk.parsePartialJson(text);
  return { state, value };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
