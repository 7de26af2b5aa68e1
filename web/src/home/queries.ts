/** What Home shows, kept up to date by the feed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { getStats, type Stat } from "../api/analytics";
import { type ImportStatus, listen } from "../api/feed";
import { listRuns } from "../api/runs";
import { listSummaries, type ThreadSummary } from "../api/threads";
import { openedThreads } from "./opened";

/** Sessions that are loaded: enough for the cards, and to find those that wait. */
const RECENT = 60;
const ACTIVE_RUNS = 50;
/** Milliseconds in which changes are collected into one reload. */
const RELOAD_DELAY = 1000;
/** Milliseconds between two reloads while a session is active: the feed does not report that a run waits. */
const ACTIVE_INTERVAL = 4000;
const DAY = 86_400_000;

export interface HomeSessions {
  /** Sessions with an active run or an open approval; those that wait first. */
  readonly active: readonly ThreadSummary[];
  /** The sessions that were opened last in this browser. */
  readonly opened: readonly ThreadSummary[];
  readonly recent: readonly ThreadSummary[];
}

const isActive = (row: ThreadSummary): boolean => Boolean(row.waiting || row.runStatus);

async function loadSessions(signal: AbortSignal): Promise<HomeSessions> {
  const opened = openedThreads();
  const [recent, runs] = await Promise.all([
    listSummaries({ limit: RECENT }, signal).then((page) => page.items),
    listRuns({ status: "running,pending", limit: ACTIVE_RUNS }, signal).then((page) => page.items),
  ]);
  const known = new Map(recent.map((row) => [row.thread.id, row]));
  const missing = new Set([...opened, ...runs.map((run) => run.threadId)].filter((id) => !known.has(id)));
  if (missing.size) {
    const more = await listSummaries({ ids: [...missing], limit: missing.size }, signal);
    for (const row of more.items) known.set(row.thread.id, row);
  }
  const active = [...known.values()].filter(isActive);
  return {
    active: [...active.filter((row) => row.waiting), ...active.filter((row) => !row.waiting)],
    opened: opened.flatMap((id) => known.get(id) ?? []),
    recent,
  };
}

export const useSessions = () =>
  useQuery({
    queryKey: ["home", "sessions"],
    queryFn: ({ signal }) => loadSessions(signal),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.active.length ? ACTIVE_INTERVAL : false),
  });

export interface Week {
  readonly now: Stat | undefined;
  readonly before: Stat | undefined;
  /** The start of the week: midnight six days ago. */
  readonly since: string;
}

async function loadWeek(signal: AbortSignal): Promise<Week> {
  const today = new Date();
  const start = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 6);
  const before = new Date(start.getFullYear(), start.getMonth(), start.getDate() - 7);
  const since = start.toISOString();
  const [now, then] = await Promise.all([
    getStats([], { since }, signal),
    getStats([], { since: before.toISOString(), until: since }, signal),
  ]);
  return { now: now[0], before: then[0], since };
}

/** The totals of the last seven days, and of the seven days before. */
export const useWeek = () =>
  useQuery({
    queryKey: ["home", "week", new Date().toDateString()],
    queryFn: ({ signal }) => loadWeek(signal),
    staleTime: DAY / 1440,
  });

/** Reloads the sessions when the feed reports a change. Returns the progress of an import. */
export function useHomeFeed(): ImportStatus | null {
  const client = useQueryClient();
  const [progress, setProgress] = useState<ImportStatus | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reload = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: ["home", "sessions"] });
      }, RELOAD_DELAY);
    };
    listen(
      {
        connected: (again) => again && reload(),
        threads: reload,
        runs: reload,
        deleted: reload,
        import: (status) =>
          setProgress((was) => {
            if (was?.state === "reading" && status.state !== "reading")
              for (const name of ["home", "sources"]) void client.invalidateQueries({ queryKey: [name] });
            return status;
          }),
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [client]);
  return progress;
}
