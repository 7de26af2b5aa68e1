// `useChat` of one release as a service: one JSON command a line on standard input, one JSON answer a line
// on standard output. `node drive.mjs 7` drives release 7.
//
//   {op: 'visit', url}                      a new page from a server
//   {op: 'mount', view, options}            a component that uses the chat; see `optionsOf`
//   {op: 'call', view, method, args}        `sendMessage`, `stop`, …; does not wait for what comes of it
//   {op: 'until', view, wanted}             waits until the view is as wanted; see `isAs`
//   {op: 'leave', view}                     closes a view
//   {op: 'close'}                           closes all of them
//
// The answer is the state of the view, `{messages, status, error, statuses, finished, rejected}`, with the
// `requests` of the page; or `{failure}`.

import { createInterface } from 'node:readline';

import { change, requests, visit } from './page.mjs';
import { load } from './release.mjs';
import { View } from './view.mjs';

const LONGEST_WAIT = 20_000; // milliseconds until a test is told what there is instead

globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.debug = console.warn = console.error;

const release = await load(process.argv[2]);
const views = new Map();

const PREDICATES = {
  tools: release.sdk.lastAssistantMessageIsCompleteWithToolCalls,
  approvals: release.sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
};

/** The options of `useChat`: those given, but for these three, which say what JSON cannot.
 *
 * `goOn` names when to send by itself, `headers` are sent with every request, and with `lastOnly` only the
 * last message is sent. Without the last two there is no transport at all: the hook uses its own.
 */
function optionsOf({ goOn, headers, lastOnly, ...options }) {
  if (goOn) options.sendAutomaticallyWhen = PREDICATES[goOn];
  if (headers || lastOnly) {
    const prepareSendMessagesRequest = lastOnly ? lastMessageOnly : undefined;
    options.transport = new release.sdk.DefaultChatTransport({ headers, prepareSendMessagesRequest });
  }
  return options;
}

function lastMessageOnly({ id, messages, trigger, messageId }) {
  return { body: { id, message: messages.at(-1), trigger, messageId } };
}

/** Whether a view is as wanted: its status, what stands in its messages, what the server has answered. */
function isAs(view, { settled, status, said = [], answered }) {
  const text = JSON.stringify(view.state.messages);
  return (
    (settled === undefined || view.settled === settled) &&
    (status === undefined || view.state.status === status) &&
    said.every(words => text.includes(words)) &&
    (answered === undefined || requests.some(request => request.status === answered))
  );
}

async function until(view, wanted) {
  const end = new Promise(resolve => setTimeout(resolve, LONGEST_WAIT, true).unref());
  let isLate = false;
  await view.draw();
  while (!isAs(view, wanted)) {
    if (isLate) throw new Error(`not ${JSON.stringify(wanted)} but ${JSON.stringify(view.state)}`);
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
  until: ({ view, wanted }) => until(views.get(view), wanted),
  leave: ({ view }) => views.get(view).close(),
  close: async () => {
    await Promise.all([...views.values()].map(view => view.close()));
    views.clear();
  },
};

async function answer(command) {
  try {
    await OPERATIONS[command.op](command);
    return { ...views.get(command.view)?.state, requests };
  } catch (error) {
    return { failure: String(error?.stack ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
