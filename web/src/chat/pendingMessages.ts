/** The first message of a new thread. It is sent when the thread opens. */
import type { OutgoingMessage } from "./live";

const pending = new Map<string, OutgoingMessage>();

export const setPendingMessage = (threadId: string, message: OutgoingMessage): void =>
  void pending.set(threadId, message);

export function takePendingMessage(threadId: string): OutgoingMessage | undefined {
  const message = pending.get(threadId);
  pending.delete(threadId);
  return message;
}
