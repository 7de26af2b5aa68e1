/** Messages of a thread: outline, pages, branches and raw events. */
import type { Message, MessageType, PartView, Thread, ToolView } from "../partita.gen";
import { address, arrivedJson, getJson, type Listing, prefetchJson, sendJson } from "./client";

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
  /** The newest messages are of interest first: the thread can be continued, or is running. */
  readonly opensAtEnd: boolean;
  /** Whether there are rows for all messages of the branch, not only for those that are displayed first. */
  readonly complete: boolean;
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
interface OutlineResponse extends Omit<Outline, "rows"> {
  readonly items: readonly OutlineItem[];
  readonly page: MessagePage | null;
}

const at = (threadId: string, ...more: readonly string[]) =>
  ["api/threads", ...[threadId, ...more].map(encodeURIComponent)].join("/");

export interface OutlineOptions {
  /** A message on the branch; by default the active branch. */
  readonly branch: string | null;
  /** With internal messages. */
  readonly internal: boolean;
  /** How many messages to include, and the one in their middle; by default where the conversation opens. */
  readonly messages?: number;
  readonly around?: string | null;
}

/** An outline, and the messages that were requested with it. */
export interface OutlinePage {
  readonly outline: Outline;
  readonly page: MessagePage | null;
}

export const getOutline = async (
  threadId: string,
  options: OutlineOptions,
  signal?: AbortSignal,
): Promise<OutlinePage> =>
  toOutlinePage(await getJson<OutlineResponse>(at(threadId, "outline"), { ...options }, signal));

/** The outline that `prefetchThread` has requested, if it has arrived. */
export function arrivedOutline(threadId: string, message: string | null): OutlinePage | undefined {
  const found = arrivedJson<OutlineResponse>(at(threadId, "outline"), { ...opening(message) });
  return found && toOutlinePage(found);
}

const toOutlinePage = ({ items, page, ...found }: OutlineResponse): OutlinePage => ({
  outline: { ...found, rows: items.map(rowOf) },
  page,
});

/** A literal of indexes, not a loop over names or an iterator: there may be tens of thousands of rows. */
const rowOf = (item: OutlineItem): OutlineRow => ({
  id: item[0],
  seq: item[1],
  role: item[2],
  type: item[3],
  createdAt: item[4],
  size: item[5],
  version: item[6],
  internal: item[7],
  hasErrors: item[8],
  reasoning: item[9],
  calls: item[10],
  failed: item[11],
  start: item[12],
  end: item[13],
  before: item[14],
  inside: item[15],
  endedAt: item[16],
  tokens: item[17],
  cost: item[18],
});

/** The path of a part, its start and its end. */
export type PartTime = readonly [string, string | null, string | null];

export interface MessagePage extends Listing<Message> {
  readonly timings?: Readonly<Record<string, readonly PartTime[]>>;
  /** By message id: the views of its tool calls, by JSON Pointer into the message. */
  readonly views?: Readonly<Record<string, Readonly<Record<string, PartView>>>>;
}

/** Messages per request. */
export const PAGE = 25;
/** Messages that are requested when a conversation opens. */
export const FIRST = 2 * PAGE;

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

/** What is requested when a conversation opens: messages around one with the outline, or those displayed first. */
export const opening = (message: string | null): OutlineOptions => ({
  branch: null,
  internal: false,
  messages: FIRST,
  around: message,
});

/** Prefetches what a conversation needs to open. */
export function prefetchThread(threadId: string, message: string | null): void {
  prefetchJson(at(threadId, "outline"), { ...opening(message) });
  prefetchJson(at(threadId));
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
