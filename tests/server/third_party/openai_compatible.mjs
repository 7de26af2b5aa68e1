// `@ai-sdk/openai-compatible` with `generateText` and `streamText` of the AI SDK, against `/v1`.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

import { attempt, report } from './report.mjs';

const provider = createOpenAICompatible({
  name: 'partita',
  baseURL: `${process.argv[2]}/v1`,
  apiKey: 'none',
  includeUsage: true,
});
const prompt = 'Where is it?';
const stopWhen = (isStepCount ?? stepCountIs)(5);

function mapTool(places) {
  return tool({
    description: 'Shows a place.',
    inputSchema: z.object({ place: z.string() }),
    execute: ({ place }) => {
      places.push(place);
      return { shown: place };
    },
  });
}

/** The content of a result, without provider metadata. */
async function contentOf(result) {
  const { text, finishReason, steps, usage } = result;
  const all = await steps;
  return {
    text: await text,
    finishReason: await finishReason,
    steps: all.map(step => step.text),
    reasoning: all.map(step => step.reasoningText ?? null),
    usage: await usage,
  };
}

const SCENARIOS = {
  whole: async () => contentOf(await generateText({ model: provider('quick'), prompt, system: 'Be brief.' })),
  stream: async () => contentOf(streamText({ model: provider('reader'), prompt })),
  counted: async () => contentOf(await generateText({ model: provider('counted'), prompt })),
  streamed_count: async () => contentOf(streamText({ model: provider('counted'), prompt })),
  reasoning: async () => contentOf(await generateText({ model: provider('thinker'), prompt })),
  streamed_reasoning: async () => contentOf(streamText({ model: provider('thinker'), prompt })),

  async tools() {
    const places = [];
    const tools = { show_map: mapTool(places) };
    return { ...(await contentOf(await generateText({ model: provider('guide'), prompt, tools, stopWhen }))), places };
  },

  async streamed_tools() {
    const places = [];
    const tools = { show_map: mapTool(places) };
    return { ...(await contentOf(streamText({ model: provider('guide'), prompt, tools, stopWhen }))), places };
  },

  async turns() {
    const messages = [{ role: 'user', content: prompt }];
    const tools = { show_map: mapTool([]) };
    const first = await generateText({ model: provider('guide'), messages, tools, stopWhen });
    messages.push(...(first.responseMessages ?? first.response.messages), { role: 'user', content: 'And now?' });
    return contentOf(await generateText({ model: provider('quick'), messages, tools }));
  },

  unknown: () => attempt(() => generateText({ model: provider('absent'), prompt, maxRetries: 0 })),
  failure: () => attempt(() => generateText({ model: provider('mute'), prompt, maxRetries: 0 })),

  async failed_stream() {
    const errors = [];
    const { fullStream } = streamText({
      model: provider('mute'),
      prompt,
      maxRetries: 0,
      onError: ({ error }) => void errors.push(String(error.message ?? error)),
    });
    for await (const _ of fullStream);
    return { errors };
  },
};

await report(SCENARIOS);
