// Reads {"chunks": [...]} lines; for each, the seconds that `readUIMessageStream` of ai 7 takes to read it.
import { createInterface } from 'node:readline';
const { readUIMessageStream } = await import(
  new URL('../tests/node_modules/ai7/dist/index.js', import.meta.url)
);

async function read(chunks) {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const begin = performance.now();
  let last;
  for await (const message of readUIMessageStream({ stream })) last = message;
  return { seconds: (performance.now() - begin) / 1000, parts: last.parts.length };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { chunks, warm } = JSON.parse(line);
  if (warm) await read(chunks);
  console.log(JSON.stringify(await read(chunks)));
}
