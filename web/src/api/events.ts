/** Server-sent events, read with `fetch`: an `EventSource` cannot send an Authorization header. */

import { type Query, request } from "./client";

interface ServerEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a stream, until it ends or `signal` aborts. */
export async function* events(path: string, query: Query, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  yield* eventsOf(await request(path, { query, signal, headers: { accept: "text/event-stream" } }));
}

/** The events of a response. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerEvent | null {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue; // a comment: the stream is alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { id, event, data: data.join("\n") } : null;
}
