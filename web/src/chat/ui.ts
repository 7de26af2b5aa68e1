/** Small questions about messages and errors of a chat. */
import type { FileUIPart } from "ai";
import { Problem } from "../api/client";
import type { Message, UserMessage } from "../partita.gen";

const GATEWAY = new Set([0, 502, 503, 504]);

/** Whether a connection broke, as opposed to a server that said no. */
export const isBroken = (error: unknown): boolean =>
  error instanceof Problem ? GATEWAY.has(error.status) : error instanceof TypeError;

/** `start/ID`, the id made fit for an address. */
export const pathOf = (start: string, id: string): string => `${start}/${encodeURIComponent(id)}`;

/** The files that a message of the user holds, as they are sent. */
export function fileParts(message: UserMessage): FileUIPart[] {
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

/** Whether a call is in a message, or in what its sub-agents said. */
export function holds(message: Message, callId: string): boolean {
  return message.content.parts.some(
    (part) =>
      part.type === "tool-call" &&
      (part.id === callId ||
        ((part.children as readonly Message[] | undefined) ?? []).some((child) => holds(child, callId))),
  );
}

/** A measure that grows with what messages say. */
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
