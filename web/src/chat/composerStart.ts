/** What the composer of a session does when it opens: it takes the focus, and sends the first message of a chat. */
import type { OutgoingMessage } from "./live";

export interface ComposerStart {
  readonly message?: OutgoingMessage;
}

const starts = new Map<string, ComposerStart>();

export const setComposerStart = (threadId: string, start: ComposerStart = {}): void =>
  void starts.set(threadId, start);

export function takeComposerStart(threadId: string): ComposerStart | undefined {
  const start = starts.get(threadId);
  starts.delete(threadId);
  return start;
}
