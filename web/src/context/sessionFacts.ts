/** What is known of a session besides its messages: its files, failed calls, and where its commits are on the web. */
import { createContext, useContext } from "react";
import type { ThreadOverview } from "../partita.gen";

export interface FilePlace {
  readonly path: string;
  readonly line?: number;
}

export interface SessionFacts {
  /** The paths of the files that were read or changed, by the name of the file. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** The web addresses of the commits that were made, by their hash. */
  readonly commits: ReadonlyMap<string, string>;
  /** The parts of messages that are failed calls, by the id of the message; null while they are not known. */
  readonly failures: ReadonlyMap<string, readonly number[]> | null;
}

const NO_FACTS: SessionFacts = { files: new Map(), commits: new Map(), failures: null };

type Overview = Pick<ThreadOverview, "files" | "calls" | "commits">;

export function factsOf(overview: Overview | undefined): SessionFacts {
  if (!overview) return NO_FACTS;
  const files = new Map<string, string[]>();
  const read = overview.calls.filter(({ kind }) => kind === "read" || kind === "edit");
  const paths = new Set([...overview.files.map(({ path }) => path), ...read.map(({ subject }) => subject)]);
  for (const path of paths) {
    if (!path || path.endsWith("…") || /^\d+ files$/.test(path)) continue;
    const name = nameOf(path);
    files.set(name, [...(files.get(name) ?? []), path]);
  }
  const commits = overview.commits.flatMap(({ hash, url }) => (url ? [[hash, url] as const] : []));
  const failures = new Map<string, number[]>();
  for (const { messageId, part, state } of overview.calls) {
    const isOwn = /^\d+$/.test(part); // not of a sub-agent
    if (state === "failed" && isOwn)
      failures.set(messageId, [...(failures.get(messageId) ?? []), Number(part)]);
  }
  return { files, commits: new Map(commits), failures };
}

const normalized = (path: string): string => path.replaceAll("\\", "/");
const nameOf = (path: string): string => normalized(path).split("/").at(-1) ?? "";

const MAX_LENGTH = 300;
/** `src/x.py`, `src/x.py:12`, `src/x.py:12:4`, `src/x.py:12-20`, `src/x.py#L12-L20`. */
const REFERENCE = /^(?:file:\/\/)?(?:\.\/)?(.+?)(?::(\d+)(?:[:-]\d+)*|#L(\d+)(?:-L?\d+)?)?$/;

/** The file of the session that a text names; null if there is none, or more than one. */
export function fileAt(text: string, { files }: SessionFacts): FilePlace | null {
  if (!files.size || text.length > MAX_LENGTH) return null;
  const [, named, colon, anchor] = REFERENCE.exec(text) ?? [];
  if (!named) return null;
  const known = files.get(nameOf(named)) ?? [];
  const wanted = normalized(named);
  const exact = known.filter((path) => normalized(path) === wanted);
  const found = exact.length ? exact : known.filter((path) => isSame(normalized(path), wanted));
  const line = colon ?? anchor;
  return found.length === 1 && found[0] !== undefined
    ? { path: found[0], ...(line === undefined ? {} : { line: Number(line) }) }
    : null;
}

/** Whether one path is the end of the other. */
const isSame = (one: string, other: string): boolean =>
  one.endsWith(`/${other}`) || other.endsWith(`/${one}`);

const HASH = /^[0-9a-f]{7,40}$/;

/** The web address of the commit whose hash, or the start of it, is the text; null if the session has not made it. */
export function commitUrlAt(text: string, { commits }: SessionFacts): string | null {
  if (!commits.size || !HASH.test(text)) return null;
  for (const [hash, url] of commits) if (hash.startsWith(text) || text.startsWith(hash)) return url;
  return null;
}

const Context = createContext<SessionFacts>(NO_FACTS);

export const SessionFactsProvider = Context.Provider;

export const useSessionFacts = (): SessionFacts => useContext(Context);
