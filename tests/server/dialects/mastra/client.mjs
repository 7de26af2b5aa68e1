// Mastra's client as a service: one JSON request {call, of?, agent?, args} per line, one response {value} or {error}.

import { createInterface } from 'node:readline';

import { MastraClient } from '@mastra/client-js';

const client = new MastraClient({ baseUrl: process.argv[2], retries: 0 });

for await (const line of createInterface({ input: process.stdin })) {
  const { call, of, agent, args = [] } = JSON.parse(line);
  const target = agent ? client.getAgent(agent) : of ? client.getMemoryThread(of) : client;
  let response;
  try {
    response = { value: (await target[call](...args)) ?? null };
  } catch (error) {
    response = { error: String(error.message ?? error), status: error.status ?? null };
  }
  process.stdout.write(`${JSON.stringify(response)}\n`);
}
