/**
 * The live state of a thread: messages that are still streaming or not yet loaded from the store.
 *
 *     const live = useLive(threadId, { stored, agent, onSettled });
 *     <>
 *       {mergeLive(stored, live).map(…)}
 *       <Composer live={live} … />
 *     </>
 */

import type { ApprovalResponse } from "../context/renderContext";
import type { Message, ToolCallPart, UserMessage } from "../partita.gen";

/**
 * `sending`: nothing has been received yet. `waiting`: the run waits for an approval. `reconnecting`: the connection
 * was lost and is retried.
 */
export type LiveStatus = "idle" | "sending" | "streaming" | "waiting" | "reconnecting";

/** A file of a message, as a `data:` URL. */
export interface Attachment {
  readonly url: string;
  readonly mediaType: string;
  readonly filename: string;
}

export interface OutgoingMessage {
  readonly text: string;
  readonly files?: readonly Attachment[];
  /** The agent to send to; by default the agent of the thread. */
  readonly agent?: string;
}

export type ClientToolResult = { readonly output: unknown } | { readonly errorText: string };

export interface LiveState {
  /** The live messages in order. Empty if all messages are stored. */
  readonly messages: readonly Message[];
  /**
   * The stored message that the live ones follow; stored messages after it belong to another branch. Null: the live
   * messages are the first. Absent: they are the last, unless a stored message has the same id.
   */
  readonly after?: string | null;
  /** The message that is streaming. */
  readonly streamingId: string | null;
  readonly busy: boolean;
  readonly status: LiveStatus;
  readonly error: Error | null;
}

export interface Live extends LiveState {
  /** Follows the run of the thread that is active on the server, if there is one. */
  readonly followActiveRun: () => void;
  readonly send: (message: OutgoingMessage) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Generates another response in place of `messageId`. */
  readonly regenerate: (messageId: string) => Promise<void>;
  /** Sends another version of a message. The old version stays on its own branch. */
  readonly edit: (message: UserMessage, text: string) => Promise<void>;
  readonly respondToApproval: (call: ToolCallPart, response: ApprovalResponse) => Promise<void>;
  /** Sends the output or the error of a client-side call. */
  readonly addToolOutput: (call: ToolCallPart, result: ClientToolResult) => Promise<void>;
}

export interface LiveOptions {
  /** The last stored messages of the displayed branch. */
  readonly stored: readonly Message[];
  /** The agent that receives messages. */
  readonly agent?: string;
  /** The agent that continues a response after a client-side call. */
  readonly last?: string;
  /** Called when a run has ended, to reload the stored messages. The live ones are removed when it resolves. */
  readonly onSettled: () => Promise<unknown>;
}

/** The stored messages, with the live ones in place of or after them. */
export function mergeLive(
  stored: readonly Message[],
  live: Pick<LiveState, "messages" | "after">,
): readonly Message[] {
  if (!live.messages.length) return stored;
  const kept = storedBefore(stored, live.after);
  const now = new Map(live.messages.map((one) => [one.id, one]));
  const known = new Set(kept.map((one) => one.id));
  return [...kept.map((one) => now.get(one.id) ?? one), ...live.messages.filter((one) => !known.has(one.id))];
}

/** The stored messages up to `after` (see `LiveState`). */
export function storedBefore<T extends { readonly id: string }>(
  stored: readonly T[],
  after: LiveState["after"],
): readonly T[] {
  if (after === null) return [];
  const index = after === undefined ? -1 : stored.findLastIndex((one) => one.id === after);
  return index < 0 ? stored : stored.slice(0, index + 1);
}

export const NOT_LIVE: LiveState = {
  messages: [],
  streamingId: null,
  busy: false,
  status: "idle",
  error: null,
};

export { useLive } from "./useLive";
