/** The figures of a session, and the places that each leads to. */
import type { ChangedFile, OverviewCall, OverviewTurn, ThreadOverview } from "../partita.gen";
import { compact, count, duration, money } from "../ui/format";

export interface Place {
  readonly messageId: string;
  readonly part: string | null;
}

/** One of the places of a figure. */
export interface Entry {
  readonly title: string;
  /** A command, a path or a hash. */
  readonly code?: string;
  readonly note?: string;
  readonly place: Place;
  /** An address outside this page, which is opened instead. */
  readonly url?: string;
}

export interface Figure {
  readonly name:
    | "time"
    | "turns"
    | "files"
    | "commands"
    | "failed"
    | "commits"
    | "pulls"
    | "agents"
    | "usage";
  readonly value: string;
  /** After the value. */
  readonly noun: string;
  readonly hint: string;
  /** Changed lines. */
  readonly added?: number;
  readonly removed?: number;
  readonly entries: readonly Entry[];
}

/** The figures that are known and not zero. */
export function figuresOf(overview: ThreadOverview): readonly Figure[] {
  const { turns, calls, files, commits, pullRequests, seconds, cost } = overview;
  const tokens = overview.inputTokens + overview.outputTokens;
  const failed = calls.filter((call) => call.state === "failed");
  const byTime = [...turns].filter((turn) => turn.seconds > 0).sort((a, b) => b.seconds - a.seconds);
  const figures: (Figure | false)[] = [
    seconds > 0 && {
      name: "time",
      value: duration(seconds),
      noun: "",
      hint: "The time of all turns. The longest first:",
      entries: byTime.map(entryOfTurn),
    },
    counted("turns", turns.length, "turn", "Questions with their responses", turns.map(entryOfTurn)),
    files.length > 0 && {
      ...counted("files", files.length, "file", "Changed files", files.map(entryOfFile)),
      added: files.reduce((sum, file) => sum + file.added, 0),
      removed: files.reduce((sum, file) => sum + file.removed, 0),
    },
    counted("commands", overview.commands, "command", "Commands", entriesOf(calls, "command")),
    counted("failed", failed.length, "failed", "Failed calls", failed.map(entryOfCall), "failed"),
    counted(
      "commits",
      commits.length,
      "commit",
      "Commits",
      commits.map((one) => ({
        title: one.subject,
        code: one.hash,
        place: placeOf(one),
        url: safe(one.url),
      })),
    ),
    counted(
      "pulls",
      pullRequests.length,
      "pull request",
      "Pull requests",
      pullRequests.map((one) => ({ title: pullTitle(one.url), place: placeOf(one), url: safe(one.url) })),
    ),
    counted("agents", overview.agents, "sub-agent", "Sub-agents", entriesOf(calls, "agent")),
    tokens > 0 && {
      name: "usage",
      value: compact(tokens),
      noun: tokens === 1 ? "token" : "tokens",
      hint: "Tokens and cost",
      entries: [],
    },
    cost !== null &&
      cost > 0 && { name: "usage", value: money(cost), noun: "", hint: "Tokens and cost", entries: [] },
  ];
  return figures.filter((one): one is Figure => one !== false && one.value !== "0");
}

const counted = (
  name: Figure["name"],
  value: number,
  noun: string,
  hint: string,
  entries: readonly Entry[],
  nouns = `${noun}s`,
): Figure => ({ name, value: count(value), noun: value === 1 ? noun : nouns, hint, entries });

const placeOf = ({ messageId, part }: Place): Place => ({ messageId, part });

const entriesOf = (calls: readonly OverviewCall[], kind: string): readonly Entry[] =>
  calls
    .filter((call) => call.kind === kind)
    .map((call) => {
      const entry = entryOfCall(call);
      return kind === "command" && entry.code ? { ...entry, title: "" } : entry; // they have the same title
    });

function entryOfCall(call: OverviewCall): Entry {
  const { startedAt, endedAt, state } = call;
  const seconds = startedAt && endedAt ? (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 : null;
  const notes = [state === "done" ? null : state, seconds === null ? null : duration(seconds)];
  return {
    title: call.title,
    code: call.subject || undefined,
    note: notes.filter(Boolean).join(" · ") || undefined,
    place: placeOf(call),
  };
}

const entryOfFile = ({ path, added, removed, edits }: ChangedFile): Entry => ({
  title: "",
  code: path,
  note: [added > 0 && `+${count(added)}`, removed > 0 && `−${count(removed)}`].filter(Boolean).join(" "),
  place: edits[0] ? placeOf(edits[0]) : { messageId: "", part: null },
});

const entryOfTurn = (turn: OverviewTurn): Entry => ({
  title: turn.title || "No prompt",
  note: turn.seconds > 0 ? duration(turn.seconds) : undefined,
  place: { messageId: turn.messageId, part: null },
});

const safe = (url: string | null): string | undefined =>
  url !== null && /^https?:\/\//.test(url) ? url : undefined;

/** `agentv #1533`, or the address. */
function pullTitle(url: string): string {
  const [, repository, number] = /([^/]+)\/(?:-\/)?(?:pulls?|merge_requests)\/(\d+)/.exec(url) ?? [];
  return number ? `${repository} #${number}` : url;
}
