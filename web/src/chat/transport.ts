/** How the page's `useChat` reaches the server, and what is noted of every answer on its way. */
import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from "ai";
import { address, ask } from "../api/client";
import { lasting, unmarked } from "./split";

const ENDS = new Set(["finish", "abort", "error"]);
const SILENT = new Set(["message-metadata"]);

/** One request, and what has come of it so far. */
export interface Exchange {
  readonly number: number;
  /** It comes back to an answer that is at work. */
  readonly resumes: boolean;
  /** The run that answers, once the server has said. */
  runId: string | null;
  /** The server has begun to answer. */
  answered: boolean;
  /** The answer is over: not cut, and not waiting for somebody. */
  ended: boolean;
}

export class PageTransport extends DefaultChatTransport<UIMessage> {
  /** An answer is told from its beginning when one comes back to it. */
  readonly resumeStreamIsReplay = true;
  exchange: Exchange = { number: 0, resumes: false, runId: null, answered: false, ended: true };

  /** `onAnswer` is told when the server answers; without `something`, that nothing is at work. */
  constructor(private readonly onAnswer: (exchange: Exchange, something: boolean) => void) {
    super({
      api: address("api/chat"),
      fetch: (url, init) => this.request(String(url), init),
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => {
        const acting = messages.find((one) => one.id === messageId) ?? messages.at(-1);
        return { body: { ...body, id, trigger, messageId, message: acting && unmarked(acting) } };
      },
    });
  }

  private async request(url: string, init?: RequestInit): Promise<Response> {
    const resumes = init?.method !== "POST";
    const number = this.exchange.number + 1;
    const exchange: Exchange = { number, resumes, runId: null, answered: false, ended: false };
    this.exchange = exchange;
    const response = await ask(url, init);
    Object.assign(exchange, {
      runId: response.headers.get("x-partita-run-id"),
      answered: true,
      ended: response.status === 204,
    });
    this.onAnswer(exchange, response.status !== 204);
    return response;
  }

  protected override processResponseStream(
    stream: ReadableStream<Uint8Array<ArrayBufferLike>>,
  ): ReadableStream<UIMessageChunk> {
    const { exchange } = this;
    return super.processResponseStream(stream).pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform(chunk, controller) {
          if (!SILENT.has(chunk.type)) exchange.ended = ENDS.has(chunk.type);
          controller.enqueue(lasting(chunk));
        },
      }),
    );
  }
}
