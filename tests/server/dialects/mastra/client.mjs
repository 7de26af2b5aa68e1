// The real client of Mastra, driven line by line: a request is {call, of?, agent?, args}, an answer {value} or {error}.

import { createInterface } from 'node:readline';

import { MastraClient } from '@mastra/client-js';

const client = new MastraClient({ baseUrl: process.argv[2], retries: 0 });

for await (const line of createInterface({ input: process.stdin })) {
  const { call, of, agent, args = [] } = JSON.parse(line);
  const target = agent ? client.getAgent(agent) : of ? client.getMemoryThread(of) : client;
  let answer;
  try {
    answer = { value: (await target[call](...args)) ?? null };
  } catch (error) {
    answer = { error: String(error.message ?? error), status: error.status ?? null };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
