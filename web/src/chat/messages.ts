/** Helpers of the chat for messages and for errors of requests. */
import { Problem } from "../api/client";
import type { Message, ToolCallPart, UserMessage } from "../partita.gen";

const GATEWAY = new Set([0, 502, 503, 504]);

/** Whether the connection was lost, as opposed to a request that the server rejected. */
export const isBroken = (error: unknown): boolean =>
  error instanceof Problem ? GATEWAY.has(error.status) : error instanceof TypeError;

/** `start/ID`, with the id encoded for a URL. */
export const pathOf = (start: string, id: string): string => `${start}/${encodeURIComponent(id)}`;

/** The files of a user message, as UI message parts of the AI SDK. */
export function fileParts(message: UserMessage): readonly object[] {
  return message.content.parts.flatMap((part) =>
    part.type === "image" || part.type === "file"
      ? [
          {
            type: "file" as const,
            url: String(part.url),
            mediaType: String(part.mediaType ?? "image/*"),
            filename: (part.filename ?? part.name) as string | undefined,
          },
        ]
      : [],
  );
}

/** Whether a call is in a message or in the messages of its sub-agents. */
export function holds(message: Message, callId: string): boolean {
  return message.content.parts.some(
    (part) =>
      part.type === "tool-call" &&
      (part.id === callId ||
        ((part.children as readonly Message[] | undefined) ?? []).some((child) => holds(child, callId))),
  );
}

export const callsOf = (message: Message): readonly ToolCallPart[] =>
  message.content.parts.filter((part): part is ToolCallPart => part.type === "tool-call");

/** Whether a call of a message, or of its sub-agents, waits for an approval. */
export const needsApproval = (message: Message): boolean =>
  callsOf(message).some(
    (call) => call.state === "approval-requested" || (call.children ?? []).some(needsApproval),
  );

/** A size that grows with every part and every character of text. */
export function sizeOf(messages: readonly Message[]): number {
  return messages.reduce(
    (sum, message) =>
      sum +
      message.content.parts.reduce(
        (inner: number, part) => inner + 1 + (typeof part.text === "string" ? part.text.length : 0),
        0,
      ),
    0,
  );
}
