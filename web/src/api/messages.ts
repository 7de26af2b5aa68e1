/** Messages of a thread, piece by piece; what they came from; their branches. */
import type { Message, MessageType, Thread } from "../partita.gen";
import { address, ask, getJson, type Listing, sendJson } from "./client";

/** A message in a few words: enough to keep its place in a list. */
export interface OutlineRow {
  readonly id: string;
  readonly seq: number;
  readonly role: Message["role"];
  readonly type: MessageType;
  readonly createdAt: string;
  /** About how many characters it takes. */
  readonly size: number;
  /** Another one when the message has changed. */
  readonly version: number;
}

export interface UsageTotals {
  readonly responses: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cost?: number | null;
  readonly unpriced: number;
}

export interface Outline {
  readonly rows: readonly OutlineRow[];
  /** Of a message with others in its place on other branches: all of them, in order. */
  readonly siblings: Readonly<Record<string, readonly string[]>>;
  readonly models: readonly string[];
  readonly usage: UsageTotals;
}

type OutlineItem = readonly [string, number, Message["role"], MessageType, string, number, number];

const at = (threadId: string, ...more: readonly string[]) =>
  ["api/threads", ...[threadId, ...more].map(encodeURIComponent)].join("/");

/** The branch through a message, or the active one. */
export async function getOutline(
  threadId: string,
  branch: string | null,
  internal: boolean,
  signal?: AbortSignal,
): Promise<Outline> {
  const found = await getJson<{ readonly items: readonly OutlineItem[] } & Omit<Outline, "rows">>(
    at(threadId, "outline"),
    { branch, internal },
    signal,
  );
  const rows = found.items.map(([id, seq, role, type, createdAt, size, version]) => ({
    id,
    seq,
    role,
    type,
    createdAt,
    size,
    version,
  }));
  return { rows, siblings: found.siblings, models: found.models, usage: found.usage };
}

/** The path of a part, and when it began and ended. */
export type PartTime = readonly [string, string | null, string | null];

export interface MessagePage extends Listing<Message> {
  readonly timings?: Readonly<Record<string, readonly PartTime[]>>;
}

/** How many messages can be asked for at once. */
export const AT_ONCE = 100;

/** These messages, of whichever branch; large values stay outside as `blob:` urls. */
export async function getMessages(threadId: string, ids: readonly string[]): Promise<MessagePage> {
  const url = new URL(address(at(threadId, "messages"), { blobs: "reference", timings: true }));
  for (const id of ids) url.searchParams.append("ids", id);
  return (await (await ask(url.href)).json()) as MessagePage;
}

export const getThread = (threadId: string): Promise<Thread> => getJson(at(threadId));

export const switchBranch = (threadId: string, messageId: string): Promise<Thread> =>
  sendJson("POST", at(threadId, "branch"), { messageId });

export const forkThread = (threadId: string, messageId: string): Promise<Thread> =>
  sendJson("POST", at(threadId, "fork"), { messageId });

export const cloneThread = (threadId: string): Promise<Thread> => sendJson("POST", at(threadId, "clone"), {});

/** A record of the log that a message came from. */
export interface RawRecord {
  readonly seq: number;
  readonly time: string;
  readonly runId: string;
  readonly chunk?: unknown;
  readonly raw?: string;
  readonly encoding?: "utf-8" | "base64";
}

export interface RawPage {
  readonly items: readonly RawRecord[];
  /** Whether these are the message's events for certain. */
  readonly exact: boolean;
  /** Why there are none. */
  readonly reason?: string;
  readonly next?: string;
}

export const getRaw = (
  threadId: string,
  messageId: string,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<RawPage> => getJson(at(threadId, "messages", messageId, "raw"), { cursor, limit: 200 }, signal);
