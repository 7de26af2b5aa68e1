// `useChat` of one release as a service: reads one JSON command per line from standard input, and writes one
// JSON response per line to standard output. `node drive.mjs 7` controls release 7.
//
//   {op: 'visit', url}                      opens a page of a server
//   {op: 'mount', view, options}            mounts a component that uses the chat; see `optionsOf`
//   {op: 'call', view, method, args}        calls `sendMessage`, `stop`, …; does not wait for the effect
//   {op: 'until', view, expected}           waits until the view has the expected state; see `isAs`
//   {op: 'unmount', view}                   unmounts a view
//   {op: 'close'}                           unmounts all views
//
// The response is the state of the view, `{messages, status, error, statuses, finished, rejected}`, with the
// `requests` of the page; or `{failure}`.

import { createInterface } from 'node:readline';

import { change, requests, visit } from './page.mjs';
import { load } from './release.mjs';
import { View } from './view.mjs';

const LONGEST_WAIT = 20_000; // milliseconds until the test receives the actual state as an error

globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.debug = console.warn = console.error;

const release = await load(process.argv[2]);
const views = new Map();

const PREDICATES = {
  tools: release.sdk.lastAssistantMessageIsCompleteWithToolCalls,
  approvals: release.sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
};

/** The options of `useChat`, with three more for values that JSON cannot represent.
 *
 * `sendWhen` names the condition for sending automatically, `headers` are sent with every request, and with
 * `lastOnly` only the last message is sent. Without the last two, the hook uses its default transport.
 */
function optionsOf({ sendWhen, headers, lastOnly, ...options }) {
  if (sendWhen) options.sendAutomaticallyWhen = PREDICATES[sendWhen];
  if (headers || lastOnly) {
    const prepareSendMessagesRequest = lastOnly ? lastMessageOnly : undefined;
    options.transport = new release.sdk.DefaultChatTransport({ headers, prepareSendMessagesRequest });
  }
  return options;
}

function lastMessageOnly({ id, messages, trigger, messageId }) {
  return { body: { id, message: messages.at(-1), trigger, messageId } };
}

/** Whether a view has a state: its status, texts in its messages, and the status of a response. */
function isAs(view, { settled, status, texts = [], responseStatus }) {
  const text = JSON.stringify(view.state.messages);
  return (
    (settled === undefined || view.settled === settled) &&
    (status === undefined || view.state.status === status) &&
    texts.every(one => text.includes(one)) &&
    (responseStatus === undefined || requests.some(request => request.status === responseStatus))
  );
}

async function until(view, expected) {
  const end = new Promise(resolve => setTimeout(resolve, LONGEST_WAIT, true).unref());
  let isLate = false;
  await view.draw();
  while (!isAs(view, expected)) {
    if (isLate) throw new Error(`not ${JSON.stringify(expected)} but ${JSON.stringify(view.state)}`);
    isLate = await Promise.race([change(), end]);
    await view.draw();
  }
}

const OPERATIONS = {
  visit: ({ url }) => visit(url),
  mount: async ({ view, options }) => {
    views.set(view, new View(release, optionsOf(options)));
    await views.get(view).draw();
  },
  call: ({ view, method, args }) => views.get(view).call(method, args),
  until: ({ view, expected }) => until(views.get(view), expected),
  unmount: ({ view }) => views.get(view).close(),
  close: async () => {
    await Promise.all([...views.values()].map(view => view.close()));
    views.clear();
  },
};

async function respond(command) {
  try {
    await OPERATIONS[command.op](command);
    return { ...views.get(command.view)?.state, requests };
  } catch (error) {
    return { failure: String(error?.stack ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await respond(JSON.parse(line)))}\n`);
}
