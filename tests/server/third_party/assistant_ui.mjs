// `useChatRuntime` of `@assistant-ui/react-ai-sdk` with its `AssistantChatTransport`, on a page without a browser.

import { Window } from 'happy-dom';

const window = new Window();
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator; // Node has one from 21 on

const { AssistantRuntimeProvider } = await import('@assistant-ui/core/react');
const { AssistantChatTransport, useChatRuntime } = await import('@assistant-ui/react-ai-sdk');
const { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } =
  await import('ai');
const { createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
const { z } = await import('zod');
const { report } = await import('./report.mjs');

const address = process.argv[2];
const LONGEST_WAIT = 10_000; // milliseconds

/** A page with a thread of an agent; `bodies` are the sent requests. */
async function open(agent, context = {}) {
  const bodies = [];
  const transport = new AssistantChatTransport({
    api: `${address}/api/chat`,
    body: { agent },
    fetch: (url, options) => {
      bodies.push(JSON.parse(options.body));
      return fetch(url, options);
    },
  });
  let runtime;
  function Page() {
    runtime = useChatRuntime({
      transport,
      sendAutomaticallyWhen: options =>
        lastAssistantMessageIsCompleteWithToolCalls(options) ||
        lastAssistantMessageIsCompleteWithApprovalResponses(options),
    });
    return createElement(AssistantRuntimeProvider, { runtime });
  }
  const root = createRoot(document.createElement('div'));
  root.render(createElement(Page));
  await until(() => runtime !== undefined);
  runtime.registerModelContextProvider({ getModelContext: () => context });
  const state = () => runtime.thread.getState();
  const last = () => state().messages.at(-1);
  const text = () => (last()?.content ?? []).map(part => part.text ?? '').join('');
  const say = words => runtime.thread.append({ role: 'user', content: [{ type: 'text', text: words }] });
  const settled = words => until(() => !state().isRunning && text().includes(words), () => JSON.stringify(state()));
  return { runtime, root, bodies, state, last, text, say, settled };
}

async function until(isDone, describe = () => 'nothing was drawn') {
  const end = Date.now() + LONGEST_WAIT;
  while (!isDone()) {
    if (Date.now() > end) throw new Error(`waited too long: ${describe()}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

const SCENARIOS = {
  async talk() {
    const page = await open('quick');
    page.say('How tall is it?');
    await page.settled('Forty-one');
    page.say('Which colour has it?');
    await until(() => page.state().messages.length === 4);
    await page.settled('Forty-one');
    return { bodies: page.bodies, roles: page.state().messages.map(message => message.role), text: page.text() };
  },

  async context() {
    const page = await open('echo', {
      system: 'Be brief.',
      callSettings: { temperature: 0.2 },
      config: { modelName: 'small' },
    });
    page.say('What have you got?');
    await page.settled('{');
    return { received: JSON.parse(page.text()) };
  },

  async tools() {
    const places = [];
    const show_map = {
      type: 'frontend',
      description: 'Shows a place.',
      parameters: z.object({ place: z.string() }),
      execute: async ({ place }) => {
        places.push(place);
        return { shown: place };
      },
    };
    const page = await open('guide', { tools: { show_map } });
    page.say('Where is it?');
    await page.settled('There it is.');
    const calls = page.last().content.filter(part => part.type === 'tool-call');
    return { tools: page.bodies[0].tools, places, calls, text: page.text(), sent: page.bodies.length };
  },

  async approval() {
    const page = await open('gate');
    page.say('Switch it off.');
    await page.settled('May I?');
    const index = page.last().content.findIndex(part => part.type === 'tool-call');
    const part = page.runtime.thread.getMessageById(page.last().id).getMessagePartByIndex(index);
    await part.respondToToolApproval({ approved: true });
    await page.settled('Done.');
    return { call: page.last().content[index], text: page.text() };
  },

  async branches() {
    const page = await open('quick');
    const { thread } = page.runtime;
    page.say('How tall is it?');
    await page.settled('Forty-one');
    page.say('Which colour has it?');
    await until(() => page.state().messages.length === 4);
    await page.settled('Forty-one');
    const first = page.last().id;
    thread.getMessageById(first).reload();
    await until(() => page.last().id !== first);
    await page.settled('Forty-one');
    const { composer } = thread.getMessageByIndex(2);
    composer.beginEdit();
    composer.setText('How old is it?');
    await composer.send();
    await until(() => page.bodies.length === 4);
    await page.settled('Forty-one');
    const { messages } = page.state();
    return {
      triggers: page.bodies.map(body => body.trigger),
      thread: page.bodies[0].id,
      question: messages[2].content[0].text,
      ids: messages.map(message => message.id),
    };
  },

  async cancel() {
    const page = await open('endless');
    page.say('Begin.');
    await until(() => page.text().includes('on and'));
    page.runtime.thread.cancelRun();
    await until(() => !page.state().isRunning);
    return { status: page.last().status };
  },

  async failure() {
    const page = await open('mute');
    page.say('Hello?');
    await until(() => page.last()?.status?.type === 'incomplete', () => JSON.stringify(page.state()));
    return { status: page.last().status };
  },

  async unknown() {
    const page = await open('absent');
    page.say('Hello?');
    await until(() => page.last()?.status?.type === 'incomplete', () => JSON.stringify(page.state()));
    return { status: page.last().status };
  },
};

await report(SCENARIOS);
