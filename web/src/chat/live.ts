/**
 * The live state of a thread: messages that are still streaming or not yet loaded from the store.
 *
 *     const live = useLive(threadId, { stored, agent, onSettled });
 *     <>
 *       {overlay(stored, live).map(…)}
 *       <Composer live={live} … />
 *     </>
 */
import type { Message, ToolCallPart, UserMessage } from "../partita.gen";
import type { Answering } from "../viewing/viewing";

/**
 * `sending`: nothing has come yet. `waiting`: the run has asked something, and goes on once it is answered.
 * `reconnecting`: the server does not answer, it is asked again and again.
 */
export type LiveStatus = "idle" | "sending" | "streaming" | "waiting" | "reconnecting";

/** A file that goes with a message: its bytes are in the `data:` url. */
export interface Attachment {
  readonly url: string;
  readonly mediaType: string;
  readonly filename: string;
}

export interface Sending {
  readonly text: string;
  readonly files?: readonly Attachment[];
  /** Who is asked; if nobody is named, who is asked in this thread. */
  readonly agent?: string;
}

export type Given = { readonly output: unknown } | { readonly errorText: string };

export interface LiveState {
  /** The messages that are live, in order. Empty when all there is to see is stored. */
  readonly messages: readonly Message[];
  /**
   * Behind which stored message they stand: what is stored behind it is of another branch. Null: before all of
   * them; absent: at the end, unless a stored message has the same id.
   */
  readonly after?: string | null;
  /** The message that is being written: texts of it are still coming. */
  readonly writing: string | null;
  readonly busy: boolean;
  readonly status: LiveStatus;
  readonly error: Error | null;
}

export interface Live extends LiveState {
  /** A run may have started elsewhere: look, and follow it. */
  readonly wake: () => void;
  readonly send: (what: Sending) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Answer once more what `messageId` answered. */
  readonly regenerate: (messageId: string) => Promise<void>;
  /** Say something else instead: the old version stays on a branch of its own. */
  readonly edit: (message: UserMessage, text: string) => Promise<void>;
  readonly answer: (call: ToolCallPart, answer: Answering) => Promise<void>;
  /** What came of a call that this side has run, or why nothing did. */
  readonly giveOutput: (call: ToolCallPart, given: Given) => Promise<void>;
}

export interface LiveOptions {
  /** The last stored messages of the branch that is shown; a page of them is enough. */
  readonly stored: readonly Message[];
  /** Who is asked, if a message does not say. */
  readonly agent?: string;
  /** Who goes on with an answer that waited for a reply. */
  readonly last?: string;
  /** A run has ended: read the stored messages again. The live ones go once this has resolved. */
  readonly onSettled: () => Promise<unknown>;
}

/** What is shown: the stored messages, and the live ones in their places. */
export function overlay(
  stored: readonly Message[],
  live: Pick<LiveState, "messages" | "after">,
): readonly Message[] {
  if (!live.messages.length) return stored;
  const kept = stored.slice(0, cutAt(stored, live.after));
  const now = new Map(live.messages.map((one) => [one.id, one]));
  const known = new Set(kept.map((one) => one.id));
  return [...kept.map((one) => now.get(one.id) ?? one), ...live.messages.filter((one) => !known.has(one.id))];
}

/** How many of the stored messages stay. */
function cutAt(stored: readonly Message[], after: LiveState["after"]): number {
  if (after === null) return 0;
  const place = after === undefined ? -1 : stored.findLastIndex((one) => one.id === after);
  return place < 0 ? stored.length : place + 1;
}

export const NOTHING: LiveState = {
  messages: [],
  writing: null,
  busy: false,
  status: "idle",
  error: null,
};

export { useLive } from "./useLive";
