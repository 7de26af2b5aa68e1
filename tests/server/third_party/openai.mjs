// The npm package `openai`: conversations with `/v1`; prints the final state of the client as JSON.

import OpenAI from 'openai';

import { attempt, report } from './report.mjs';

const client = new OpenAI({ baseURL: `${process.argv[2]}/v1`, apiKey: 'none', maxRetries: 0 });
const HELLO = { role: 'user', content: 'Where is it?' };
const MAP = {
  type: 'function',
  function: {
    name: 'show_map',
    description: 'Shows a place.',
    strict: true,
    parameters: {
      type: 'object',
      properties: { place: { type: 'string' } },
      required: ['place'],
      additionalProperties: false,
    },
  },
};
const { completions } = client.chat;

const SCENARIOS = {
  async models() {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    return { ids };
  },

  async whole() {
    const messages = [HELLO];
    const first = await completions.create({ model: 'quick', messages });
    messages.push(first.choices[0].message, HELLO);
    return { first, second: await completions.create({ model: 'quick', messages, temperature: 0.2, seed: 1 }) };
  },

  async stream() {
    const chunks = [];
    const stream = await completions.create({
      model: 'reader',
      messages: [HELLO],
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) chunks.push(chunk);
    return { chunks };
  },

  async usage() {
    const body = { model: 'counted', messages: [HELLO] };
    const { usage } = await completions.create(body);
    const stream = completions.stream({ ...body, stream_options: { include_usage: true } });
    return { whole: usage, streamed: await stream.totalUsage() };
  },

  async tools() {
    const messages = [{ role: 'developer', content: 'Be brief.' }, HELLO];
    const stream = completions.stream({ model: 'guide', messages, tools: [MAP], tool_choice: 'auto' });
    const first = await stream.finalChatCompletion();
    const { message } = first.choices[0];
    messages.push(message);
    for (const call of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'shown' });
    }
    return { first, second: await completions.create({ model: 'guide', messages, tools: [MAP] }) };
  },

  async runner() {
    const places = [];
    const runner = completions.runTools({
      model: 'guide',
      messages: [HELLO],
      stream: true,
      tools: [
        {
          ...MAP,
          function: { ...MAP.function, parse: JSON.parse, function: ({ place }) => (places.push(place), 'shown') },
        },
      ],
    });
    return { text: await runner.finalContent(), places, roles: runner.messages.map(({ role }) => role) };
  },

  async thread() {
    const metadata = { thread_id: 'kept' };
    const first = await completions.create({ model: 'guide', messages: [HELLO], tools: [MAP], metadata });
    const { message } = first.choices[0];
    const outputs = message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'shown' }));
    const messages = [HELLO, message, ...outputs];
    const second = await completions.create({ model: 'guide', messages, tools: [MAP], metadata });
    return { text: second.choices[0].message.content };
  },

  async approval() {
    const answer = await completions.create({ model: 'keeper', messages: [HELLO], tools: [MAP] });
    return { choice: answer.choices[0] };
  },

  async reasoning() {
    const answer = await completions.create({ model: 'thinker', messages: [HELLO] });
    return { message: answer.choices[0].message };
  },

  unknown: () => attempt(() => completions.create({ model: 'absent', messages: [HELLO] })),
  invalid: () => attempt(() => completions.create({ model: 'quick', messages: [{ role: 'oracle', content: '?' }] })),
  failure: () => attempt(() => completions.create({ model: 'mute', messages: [HELLO] })),
  failed_stream: () =>
    attempt(async () => {
      for await (const _ of await completions.create({ model: 'mute', messages: [HELLO], stream: true }));
    }),

  async abort() {
    const stream = await completions.create({ model: 'endless', messages: [HELLO], stream: true });
    let text = '';
    for await (const chunk of stream) {
      text += chunk.choices[0].delta.content ?? '';
      if (text) stream.controller.abort();
    }
    return { text };
  },
};

await report(SCENARIOS);
