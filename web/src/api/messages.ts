/** Messages of a thread: outline, pages, branches and raw events. */
import type { Message, MessageType, PartView, Thread, ToolView } from "../partita.gen";
import { address, getJson, type Listing, prefetchJson, sendJson } from "./client";
import { isImported } from "./threads";

/** The facts about a message that its row in a list needs before the message has loaded. */
export interface OutlineRow {
  readonly id: string;
  readonly seq: number;
  readonly role: Message["role"];
  readonly type: MessageType;
  readonly createdAt: string | null;
  /** Size in bytes. */
  readonly size: number;
  /** Changes when the message changes. */
  readonly version: number;
  readonly internal: boolean;
  /** A call failed, or the run that wrote the message. */
  readonly hasErrors: boolean;
  readonly reasoning: boolean;
  /** How many calls of each kind the message has. */
  readonly calls: Readonly<Record<string, number>> | null;
  readonly failed: number;
  /**
   * The parts from `start` up to `end` (null: up to the last) are what the message says: texts, files, questions to
   * the user. The parts before and after them are calls and reasoning. Both are 0 if there are only calls.
   */
  readonly start: number;
  readonly end: number | null;
  /** How many calls are before `start`, and how many from there to `end`. */
  readonly before: number;
  readonly inside: number;
  /** When its last call ended. */
  readonly endedAt: string | null;
  readonly tokens: number;
  readonly cost: number | null;
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
  /** By message id: the messages at the same position on all branches, in order. */
  readonly siblings: Readonly<Record<string, readonly string[]>>;
  readonly models: readonly string[];
  readonly usage: UsageTotals;
  /** The number of messages that are not internal. */
  readonly total: number;
  /** An agent is at work in the thread. */
  readonly running: boolean;
}

/** The members of a row, in the order of the response. */
type OutlineItem = readonly [
  id: OutlineRow["id"],
  seq: OutlineRow["seq"],
  role: OutlineRow["role"],
  type: OutlineRow["type"],
  createdAt: OutlineRow["createdAt"],
  size: OutlineRow["size"],
  version: OutlineRow["version"],
  internal: OutlineRow["internal"],
  hasErrors: OutlineRow["hasErrors"],
  reasoning: OutlineRow["reasoning"],
  calls: OutlineRow["calls"],
  failed: OutlineRow["failed"],
  start: OutlineRow["start"],
  end: OutlineRow["end"],
  before: OutlineRow["before"],
  inside: OutlineRow["inside"],
  endedAt: OutlineRow["endedAt"],
  tokens: OutlineRow["tokens"],
  cost: OutlineRow["cost"],
];
type OutlineResponse = { readonly items: readonly OutlineItem[] } & Omit<Outline, "rows">;

const at = (threadId: string, ...more: readonly string[]) =>
  ["api/threads", ...[threadId, ...more].map(encodeURIComponent)].join("/");

/** The outline of the branch through a message, or of the active branch. */
export async function getOutline(
  threadId: string,
  branch: string | null,
  internal: boolean,
  signal?: AbortSignal,
): Promise<Outline> {
  const found = await getJson<OutlineResponse>(at(threadId, "outline"), { branch, internal }, signal);
  return { ...found, rows: found.items.map(rowOf) };
}

/** A literal, not a loop over names: there may be tens of thousands of rows. */
function rowOf(item: OutlineItem): OutlineRow {
  const [
    id,
    seq,
    role,
    type,
    createdAt,
    size,
    version,
    internal,
    hasErrors,
    reasoning,
    calls,
    failed,
    start,
    end,
    before,
    inside,
    endedAt,
    tokens,
    cost,
  ] = item;
  return {
    id,
    seq,
    role,
    type,
    createdAt,
    size,
    version,
    internal,
    hasErrors,
    reasoning,
    calls,
    failed,
    start,
    end,
    before,
    inside,
    endedAt,
    tokens,
    cost,
  };
}

/** The path of a part, its start and its end. */
export type PartTime = readonly [string, string | null, string | null];

export interface MessagePage extends Listing<Message> {
  readonly timings?: Readonly<Record<string, readonly PartTime[]>>;
  /** By message id: the views of its tool calls, by JSON Pointer into the message. */
  readonly views?: Readonly<Record<string, Readonly<Record<string, PartView>>>>;
}

/** Messages per request. */
export const PAGE = 25;

/** Whether a conversation opens at its end: it can be continued, or is running. Others open at their start. */
export const opensAtEnd = (thread: Thread, isRunning: boolean): boolean => !isImported(thread) || isRunning;

/** The URL of messages of any branch. Large values are returned as `blob:` URLs. */
function messagesUrl(threadId: string, ids: readonly string[]): string {
  const url = new URL(address(at(threadId, "messages"), { blobs: "reference", timings: true, views: true }));
  for (const id of ids) url.searchParams.append("ids", id);
  return url.href;
}

export const getMessages = (threadId: string, ids: readonly string[]): Promise<MessagePage> =>
  getJson(messagesUrl(threadId, ids));

/** The views of tool calls that the server has not stored (yet). */
export async function classifyCalls(
  threadId: string,
  calls: readonly object[],
): Promise<readonly ToolView[]> {
  return (await sendJson<{ views: ToolView[] }>("POST", "api/tool-views", { threadId, calls })).views;
}

/** Prefetches what a conversation needs to open; with `withMessages`, the messages where it opens, too. */
export async function prefetchThread(threadId: string, withMessages: boolean): Promise<void> {
  const outline = prefetchJson<OutlineResponse>(at(threadId, "outline"), { internal: false });
  const thread = prefetchJson<Thread>(at(threadId));
  if (!withMessages) return;
  const { items, running } = await outline;
  const last = Math.floor((items.length - 1) / PAGE) * PAGE;
  const pages = opensAtEnd(await thread, running) ? [last, last - PAGE] : [0];
  for (const start of pages.filter((one) => one >= 0))
    void prefetchJson(
      messagesUrl(
        threadId,
        items.slice(start, start + PAGE).map(([id]) => id),
      ),
    );
}

export const switchBranch = (threadId: string, messageId: string): Promise<Thread> =>
  sendJson("POST", at(threadId, "branch"), { messageId });

/** A raw log record of a message. */
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
  /** False if the events only mention the message. */
  readonly exact: boolean;
  /** Why there are no events. */
  readonly reason?: string;
  readonly next?: string;
}

export const getRaw = (
  threadId: string,
  messageId: string,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<RawPage> => getJson(at(threadId, "messages", messageId, "raw"), { cursor, limit: 200 }, signal);
