/** Messages of a thread, piece by piece; what they came from; their branches. */
import type { Message, MessageType, Thread, ToolView } from "../partita.gen";
import { address, askAhead, getJson, type Listing, sendJson } from "./client";

/** A message in a few words: enough to keep its place in a list. */
export interface OutlineRow {
  readonly id: string;
  readonly seq: number;
  readonly role: Message["role"];
  readonly type: MessageType;
  readonly createdAt: string;
  /** How many bytes it takes. */
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
type OutlineFound = { readonly items: readonly OutlineItem[] } & Omit<Outline, "rows">;

const at = (threadId: string, ...more: readonly string[]) =>
  ["api/threads", ...[threadId, ...more].map(encodeURIComponent)].join("/");

/** The branch through a message, or the active one. */
export async function getOutline(
  threadId: string,
  branch: string | null,
  internal: boolean,
  signal?: AbortSignal,
): Promise<Outline> {
  const found = await getJson<OutlineFound>(at(threadId, "outline"), { branch, internal }, signal);
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
  /** By message: what its tool calls are, by their JSON Pointers into the message. */
  readonly views?: Readonly<Record<string, Readonly<Record<string, ToolView>>>>;
}

/** How many messages are asked for at once: more would take long to read. */
export const PAGE = 25;

/** Where these messages are, of whichever branch; large values stay outside as `blob:` urls. */
function messagesAt(threadId: string, ids: readonly string[]): string {
  const url = new URL(address(at(threadId, "messages"), { blobs: "reference", timings: true, views: true }));
  for (const id of ids) url.searchParams.append("ids", id);
  return url.href;
}

export const getMessages = (threadId: string, ids: readonly string[]): Promise<MessagePage> =>
  getJson(messagesAt(threadId, ids));

/** What these calls of a thread are: of calls that the server has not stored, or not yet. */
export async function classifyCalls(
  threadId: string,
  calls: readonly object[],
): Promise<readonly ToolView[]> {
  return (await sendJson<{ views: ToolView[] }>("POST", "api/tool-views", { threadId, calls })).views;
}

/** Asks for what a conversation opens with before it is drawn: with its end, unless something else is wanted. */
export async function askForThread(threadId: string, withEnd: boolean): Promise<void> {
  const outline = askAhead<OutlineFound>(at(threadId, "outline"), { internal: false });
  void askAhead(at(threadId));
  if (!withEnd) return;
  const { items } = await outline;
  const last = Math.floor((items.length - 1) / PAGE) * PAGE;
  for (const start of [last, last - PAGE].filter((one) => one >= 0))
    void askAhead(
      messagesAt(
        threadId,
        items.slice(start, start + PAGE).map(([id]) => id),
      ),
    );
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
