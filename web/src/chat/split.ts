/** What `useChat` holds → canonical messages. To it, all messages of a run are one; marks say where each begins. */
import type { UIMessage, UIMessageChunk } from "ai";
import type { Message, Usage } from "../partita.gen";
import type { ChildFold } from "../stream/children";
import { fromUi } from "../stream/from_ui";
import { shared } from "../stream/shared";

const MARK = "data-message";

/** A mark that stays: what the server says in passing would leave no trace in the message. */
export const lasting = (chunk: UIMessageChunk): UIMessageChunk =>
  chunk.type === MARK ? ({ type: MARK, id: markId(chunk), data: chunk.data } as UIMessageChunk) : chunk;

const isMark = (part: { type: string }): part is { type: typeof MARK; data?: unknown } => part.type === MARK;

const markId = (part: { data?: unknown }): string =>
  String((part.data as { messageId?: unknown } | undefined)?.messageId ?? "");

/** The message as the server knows it, without marks. */
export const unmarked = (message: UIMessage): UIMessage =>
  message.parts.some(isMark) ? { ...message, parts: message.parts.filter((part) => !isMark(part)) } : message;

/** What else is known of a message: its thread, its run, its time. */
export type Facts = (message: UIMessage) => Pick<Message, "threadId" | "runId" | "createdAt">;

/** The canonical messages that a UI message is. `before` has what each was last time. */
export function canonical(
  message: UIMessage,
  children: ChildFold,
  before: ReadonlyMap<string, Message>,
  facts: Facts = () => ({}),
): readonly Message[] {
  const messages = message.parts.some(isMark) ? split(message) : [message];
  return messages.map((one) =>
    shared(before.get(one.id), withUsage(fromUi({ ...one, ...facts(one) }, children))),
  );
}

function split(message: UIMessage): readonly UIMessage[] {
  const found: UIMessage[] = [];
  let id = message.id;
  let from = 0;
  message.parts.forEach((part, index) => {
    if (!isMark(part)) return;
    found.push({ id, role: message.role, parts: message.parts.slice(from, index) });
    id = markId(part);
    from = index + 1;
  });
  // What is said of a message while it is at work is said of its last one.
  return [...found, { ...message, id, parts: message.parts.slice(from) }];
}

/** What a message consumed: the store keeps it beside the words. */
function withUsage(message: Message): Message {
  const usage = (message.content.metadata as { usage?: Usage } | null | undefined)?.usage;
  if (!usage || message.role !== "assistant" || message.content.usage) return message;
  return { ...message, content: { ...message.content, usage } };
}
