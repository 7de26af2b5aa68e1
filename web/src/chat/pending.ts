/** What is to be said in a thread as soon as it is shown: how a new chat begins, and a fork goes on. */
import type { Sending } from "./live";

const pending = new Map<string, Sending>();

export const sendLater = (threadId: string, what: Sending): void => void pending.set(threadId, what);

export function takePending(threadId: string): Sending | undefined {
  const found = pending.get(threadId);
  pending.delete(threadId);
  return found;
}
