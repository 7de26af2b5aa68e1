/** The outline of a session: its turns, and what happened in each of them. */
import type { OverviewCall, OverviewTurn, PartPlace, ThreadOverview } from "../partita.gen";

export type EntryKind = "error" | "edit" | "agent" | "commit";

/** An edit, an error, a sub-agent or a commit, with its place. */
export interface Entry {
  readonly kind: EntryKind;
  readonly messageId: string;
  readonly part: string | null;
  /** The index of its message. */
  readonly row: number;
  readonly title: string;
  readonly subject: string;
  /** The lines that an edit added and removed. */
  readonly added: number;
  readonly removed: number;
}

export interface TurnNode {
  readonly turn: OverviewTurn;
  /** From 1. */
  readonly number: number;
  /** The index of its first message. */
  readonly row: number;
  readonly calls: readonly OverviewCall[];
  readonly entries: readonly Entry[];
}

/** A message that is shown. */
export interface ShownMessage {
  readonly id: string;
  /** The response failed, not only a call in it. */
  readonly isFailed: boolean;
}

export const keyOf = ({ messageId, part }: { messageId: string; part: string | null }): string =>
  `${messageId} ${part ?? ""}`;

/** The turns whose messages are shown, in their order. */
export function turnNodes(overview: ThreadOverview, messages: readonly ShownMessage[]): readonly TurnNode[] {
  const rows = new Map(messages.map(({ id }, row) => [id, row]));
  const reports = reportsOf(overview, rows);
  const failures = messages.flatMap((one, row) => (one.isFailed ? [failure(one.id, row)] : []));
  let [call, failed] = [0, 0];
  return overview.turns.flatMap((turn, index) => {
    const calls = overview.calls.slice(call, call + turn.calls);
    call += turn.calls;
    const row = rows.get(turn.messageId);
    if (row === undefined) return [];
    const next = overview.turns.slice(index + 1).find((one) => rows.has(one.messageId));
    const end = next ? (rows.get(next.messageId) ?? 0) : messages.length;
    const own: Entry[] = [];
    for (; (failures[failed]?.row ?? end) < end; failed += 1) {
      const entry = failures[failed];
      if (entry && entry.row >= row) own.push(entry);
    }
    const entries = calls.flatMap((one) => entriesOf(one, rows, reports));
    const all = own.length ? [...entries, ...own].sort((a, b) => a.row - b.row) : entries;
    return [{ turn, number: index + 1, row, calls, entries: all }];
  });
}

const failure = (messageId: string, row: number): Entry => ({
  kind: "error",
  messageId,
  part: null,
  row,
  title: "Response failed",
  subject: "",
  added: 0,
  removed: 0,
});

type Reports = ReadonlyMap<string, readonly Entry[]>;

/** The commits and pull requests, by the place of the call that made them. */
function reportsOf(overview: ThreadOverview, rows: ReadonlyMap<string, number>): Reports {
  const found = new Map<string, Entry[]>();
  const add = (place: PartPlace, title: string, subject: string) => {
    const key = keyOf(place);
    const row = rows.get(place.messageId) ?? -1;
    const entry: Entry = {
      ...failure(place.messageId, row),
      kind: "commit",
      part: place.part,
      title,
      subject,
    };
    found.set(key, [...(found.get(key) ?? []), entry]);
  };
  for (const one of overview.commits) add(one, one.hash.slice(0, 7), one.subject);
  for (const one of overview.pullRequests) add(one, "Pull request", shortUrl(one.url));
  return found;
}

/** `owner/name/pull/3` */
const shortUrl = (url: string): string => url.replace(/^https?:\/\/[^/]+\//, "");

function entriesOf(
  call: OverviewCall,
  rows: ReadonlyMap<string, number>,
  reports: Reports,
): readonly Entry[] {
  const row = rows.get(call.messageId);
  if (row === undefined) return [];
  const kind = kindOf(call);
  const { messageId, part, title, subject, added, removed } = call;
  const own = kind ? [{ kind, messageId, part, row, title, subject, added, removed }] : [];
  const made = reports.get(keyOf(call));
  return made ? [...own, ...made] : own;
}

/** What a call is in the outline; null if it is not in it. A sub-agent that failed is an error. */
function kindOf({ kind, state }: OverviewCall): EntryKind | null {
  if (state === "failed") return "error";
  if (kind === "edit") return state === "done" ? "edit" : null;
  return kind === "agent" || kind === "network" ? "agent" : null;
}

export type Filter = "all" | "question" | Exclude<EntryKind, "commit">;

/** How many turns and entries each filter has. */
export function countsOf(nodes: readonly TurnNode[]): Readonly<Record<Filter, number>> {
  const counts = { all: nodes.length, question: nodes.length, error: 0, edit: 0, agent: 0 };
  for (const { entries } of nodes) for (const { kind } of entries) if (kind !== "commit") counts[kind] += 1;
  return counts;
}

/** A line of the outline. */
export type Item =
  | { readonly type: "turn"; readonly key: string; readonly node: TurnNode; readonly isOpen: boolean | null }
  | { readonly type: "entry"; readonly key: string; readonly node: TurnNode; readonly entry: Entry };

/** The lines of a filter. `isOpen` says whether a turn is expanded. */
export function itemsOf(
  nodes: readonly TurnNode[],
  filter: Filter,
  isOpen: (node: TurnNode) => boolean,
): readonly Item[] {
  return nodes.flatMap((node): readonly Item[] => {
    const isAll = filter === "all";
    const entries = isAll ? node.entries : node.entries.filter(({ kind }) => kind === filter);
    if (!entries.length && !isAll && filter !== "question") return [];
    const canOpen = isAll && entries.length > 0;
    const key = node.turn.messageId;
    const turn: Item = { type: "turn", key, node, isOpen: canOpen ? isOpen(node) : null };
    if (filter === "question" || turn.isOpen === false) return [turn];
    return [
      turn,
      ...entries.map(
        (entry, at): Item => ({ type: "entry", key: `${keyOf(entry)} ${entry.kind} ${at}`, node, entry }),
      ),
    ];
  });
}

/** The index of the line of the message at a row: the last one at or above it. */
export function currentIndex(items: readonly Item[], row: number): number {
  const rowOf = (item: Item) => (item.type === "turn" ? item.node.row : item.entry.row);
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item && rowOf(item) <= row) low = middle + 1;
    else high = middle;
  }
  // The first of several lines of the same message.
  let at = low - 1;
  const item = items[at];
  while (item && at > 0 && items[at - 1]?.type === "entry" && rowOf(items[at - 1] as Item) === rowOf(item))
    at -= 1;
  return at;
}

/** The places that a key steps through, in order. */
export const stopsOf = (nodes: readonly TurnNode[], kind: EntryKind): readonly Stop[] =>
  nodes.flatMap(({ entries }) => entries.filter((one) => one.kind === kind));

export interface Stop {
  readonly messageId: string;
  readonly part: string | null;
  readonly row: number;
}

/** Where the user is: the message at the top, or the place that was shown last. */
export interface Position {
  readonly row: number;
  readonly part: string | null;
}

/** The index of the next stop in a direction; -1 if there is none. */
export function nextStop(stops: readonly Stop[], position: Position, by: 1 | -1): number {
  return by > 0
    ? stops.findIndex((stop) => compare(stop, position) > 0)
    : stops.findLastIndex((stop) => compare(stop, position) < 0);
}

/** The parts of a message come after its start. */
const compare = (stop: Position, position: Position): number =>
  stop.row - position.row || comparePaths(stop.part ?? "", position.part ?? "");

function comparePaths(one: string, other: string): number {
  const [a, b] = [one, other].map((path) => path.split(".").map((step) => Number(step) || 0));
  if (!one || !other) return one.length - other.length;
  for (let at = 0; at < Math.min(a?.length ?? 0, b?.length ?? 0); at += 1) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference) return difference;
  }
  return (a?.length ?? 0) - (b?.length ?? 0);
}
