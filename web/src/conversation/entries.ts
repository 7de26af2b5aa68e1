/** The entries of the list of messages: messages, or slices of them, and folded groups of calls. */
import { MIN_CALLS } from "../parts/CallGroup";
import { addCounts, type CallTotals, totalCalls } from "../parts/callTotals";
import type { ShownParts } from "../parts/MessageBody";
import type { Detail } from "../ui/preferences";
import { estimate, estimateOfCalls, estimateOfText, GROUP_HEIGHT, TURN_HEIGHT } from "./estimate";
import { acceptedParts, type Filter, matches } from "./filter";
import type { Row } from "./rows";
import { callsOf, holds, joined, type Slice, slicesOf } from "./slices";
import { type Turn, turnsOf } from "./turns";

export interface MessageEntry {
  readonly kind: "message";
  readonly key: string;
  readonly row: Row;
  readonly slice: Slice;
  /** Absent if the whole message is displayed. */
  readonly shown?: ShownParts;
  /** The message is known by this entry: it is whole, or contains its text. */
  readonly isMain: boolean;
  /** The turn that begins here. */
  readonly turn?: Turn;
  readonly inGroup: boolean;
  /** The same agent has written the message before it in this turn. */
  readonly continues: boolean;
  readonly isRunning: boolean;
  readonly estimate: number;
}

export interface GroupEntry {
  readonly kind: "group";
  readonly key: string;
  readonly slices: readonly Slice[];
  readonly totals: CallTotals;
  /** The texts in it. */
  readonly messages: number;
  readonly isOpen: boolean;
  readonly isRunning: boolean;
  readonly estimate: number;
}

export type Entry = MessageEntry | GroupEntry;

export interface EntryOptions {
  readonly rows: readonly Row[];
  readonly detail: Detail;
  readonly filter: Filter;
  readonly isOpen: (group: string) => boolean;
  /** An agent is working on the last turn. */
  readonly isRunning: boolean;
  /** The last message is always displayed: it may have buttons. */
  readonly keepsLast: boolean;
}

export function entriesOf(options: EntryOptions): readonly Entry[] {
  const { rows, detail, filter, isRunning, keepsLast } = options;
  return turnsOf(rows, isRunning).flatMap((turn) => {
    if (filter.size)
      return turn.rows.filter((row) => matches(row, filter)).map((row) => filtered(row, turn, filter));
    if (detail === "everything") return turn.rows.map((row) => whole(row, turn));
    if (detail === "normal" && !hasFoldable(turn)) return continued(turn.rows.map((row) => whole(row, turn)));
    const last = keepsLast ? rows.at(-1) : undefined;
    const slices = turn.rows.flatMap((row) =>
      row === last ? joined(slicesOf(row)).map((one) => ({ ...one, kind: "text" as const })) : slicesOf(row),
    );
    return continued(detail === "normal" ? normal(slices, turn, options) : focused(slices, turn, options));
  });
}

/** The entries of a turn. Of its messages of the agent, all but the first one continue another. */
function continued(entries: readonly Entry[]): readonly Entry[] {
  let isFirst = true;
  for (const entry of entries) {
    if (entry.kind !== "message" || entry.inGroup || !isOfAgent(entry.row)) continue;
    if (!isFirst) (entry as { continues: boolean }).continues = true; // nothing else has it yet
    isFirst = false;
  }
  return entries;
}

/** Whether a turn has enough calls for a group, wherever they are. Otherwise its messages are not cut. */
function hasFoldable({ rows }: Turn): boolean {
  let [calls, messages] = [0, 0];
  for (const { stored } of rows) {
    if (!stored?.calls) continue;
    calls += callsOf(stored);
    messages += 1;
  }
  return calls >= MIN_CALLS || messages > 1;
}

const isOfAgent = ({ role, type, internal }: Row): boolean =>
  role === "assistant" && type !== "event" && !internal;

/** The message that an entry is about: that of a group is its first one. */
export const messageOf = (entry: Entry): string =>
  entry.kind === "message" ? entry.row.id : (entry.slices[0]?.row.id ?? "");

/** Whether an entry displays or contains a message or a part of it. */
export function contains(entry: Entry, messageId: string, part: number | null): boolean {
  const slices = entry.kind === "message" ? [entry.slice] : entry.slices;
  return slices.some((one) => one.row.id === messageId && (part === null || holds(one, part)));
}

const turnAt = (row: Row, turn: Turn): Turn | undefined =>
  turn.hasQuestion && row.id === turn.messageId ? turn : undefined;

function whole(row: Row, turn: Turn): MessageEntry {
  const head = turnAt(row, turn);
  return {
    kind: "message",
    key: row.id,
    row,
    slice: { row, from: 0, to: null, kind: "text", counts: {}, failed: 0 },
    isMain: true,
    turn: head,
    inGroup: false,
    continues: false,
    isRunning: turn.isRunning,
    estimate: estimate(row) + (head ? TURN_HEIGHT : 0),
  };
}

const filtered = (row: Row, turn: Turn, filter: Filter): MessageEntry => ({
  ...whole(row, turn),
  shown: { from: 0, to: null, isBare: false, accepts: acceptedParts(filter) },
});

function entryOf(slice: Slice, turn: Turn, inGroup: boolean): MessageEntry {
  const { row, from, to, kind } = slice;
  const isBare = inGroup && kind === "work";
  if (from === 0 && to === null && !isBare) return { ...whole(row, turn), inGroup };
  const isMain = kind === "text" || (from === 0 && to === null);
  const calls = estimateOfCalls(totalCalls(slice.counts) || 1);
  return {
    ...whole(row, turn),
    key: isMain ? row.id : `${row.id} ${from}`,
    slice,
    shown: { from, to, isBare },
    isMain,
    inGroup,
    estimate: kind === "text" ? estimateOfText : calls,
  };
}

/** The texts, and between them the calls: folded if there are enough of them. */
function normal(slices: readonly Slice[], turn: Turn, { isOpen }: EntryOptions): Entry[] {
  const entries: Entry[] = [];
  let plain: Slice[] = [];
  let run: Slice[] = [];
  const flushPlain = () => {
    for (const slice of joined(plain)) entries.push(entryOf(slice, turn, false));
    plain = [];
  };
  const flushRun = (isEnd: boolean) => {
    const end = run.findLastIndex(({ kind }) => kind === "work") + 1;
    const [work, events] = [run.slice(0, end), run.slice(end)];
    run = [];
    if (!isFoldable(work)) plain.push(...work);
    else {
      flushPlain();
      entries.push(...group(work, turn, isOpen, isEnd && turn.isRunning));
    }
    plain.push(...events);
  };
  for (const slice of slices) {
    if (slice.kind === "work" || (slice.kind === "event" && run.length)) run.push(slice);
    else {
      flushRun(false);
      plain.push(slice);
    }
  }
  flushRun(true);
  flushPlain();
  return entries;
}

/** Whether a line is shorter: of two messages, it also replaces their heads. */
function isFoldable(work: readonly Slice[]): boolean {
  const calls = work.reduce((sum, one) => sum + totalCalls(one.counts), 0);
  const messages = work.filter(({ counts }) => totalCalls(counts) > 0).length;
  return calls >= MIN_CALLS || messages > 1;
}

/** The question and the last text of the agent; everything else is folded. */
function focused(slices: readonly Slice[], turn: Turn, { isOpen }: EntryOptions): Entry[] {
  const isAnswer = ({ kind, row }: Slice) => kind === "text" && row.role === "assistant" && !row.internal;
  const start = turn.hasQuestion ? 1 : 0;
  const answer = slices.findLastIndex(isAnswer);
  const end = answer < start ? slices.length : answer;
  const [question, before, after] = [slices.slice(0, start), slices.slice(start, end), slices.slice(end + 1)];
  const isHidden = (some: readonly Slice[]) =>
    some.some(({ kind, counts }) => kind !== "work" || totalCalls(counts) > 0);
  const hidden = (some: readonly Slice[], isEnd: boolean) =>
    group(some, turn, isOpen, isEnd && turn.isRunning);
  const shown = (some: readonly Slice[]) => joined(some).map((one) => entryOf(one, turn, false));
  const said = slices.slice(end, end + 1);
  return [
    ...shown(question),
    ...(isHidden(before)
      ? [...hidden(before, end === slices.length), ...shown(said)]
      : shown([...before, ...said, ...(isHidden(after) ? [] : after)])),
    ...(isHidden(after) ? hidden(after, true) : []),
  ];
}

/** A group: its line, and what it contains if it is open. Of a group that is running, the newest call is visible. */
function group(
  slices: readonly Slice[],
  turn: Turn,
  isOpen: (key: string) => boolean,
  isRunning: boolean,
): Entry[] {
  const first = slices[0];
  if (!first) return [];
  const key = `group ${first.row.id} ${first.from}`;
  const open = isOpen(key);
  const line: GroupEntry = {
    kind: "group",
    key,
    slices,
    totals: {
      counts: addCounts(slices.map(({ counts }) => counts)),
      failed: slices.reduce((sum, { failed }) => sum + failed, 0),
      seconds: secondsOf(slices),
    },
    messages: slices.filter(({ kind }) => kind !== "work").length,
    isOpen: open,
    isRunning,
    estimate: GROUP_HEIGHT,
  };
  const inside = open ? joined(slices) : isRunning ? slices.slice(-1) : [];
  return [line, ...inside.map((slice) => entryOf(slice, turn, true))];
}

function secondsOf(slices: readonly Slice[]): number | null {
  const starts = slices.flatMap(({ row }) => row.stored?.createdAt ?? []);
  const ends = slices.flatMap(({ row }) => row.stored?.endedAt ?? row.stored?.createdAt ?? []);
  const [first, last] = [starts[0], ends.at(-1)];
  return first && last ? Math.max(0, (Date.parse(last) - Date.parse(first)) / 1000) : null;
}
