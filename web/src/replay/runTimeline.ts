/** The events of a run, loaded page by page and followed while the run is active. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { readMoment, readTimeline, type TimelineEvent, type TimelinePage } from "../api/runs";
import { RunHistory } from "./runHistory";
import { Outline } from "./segments";

const PAGE_SIZE = 2000;
const WAIT_SECONDS = 20;
const POLL_INTERVAL = 5000;

export interface Progress {
  /** The number of loaded events. */
  readonly loaded: number;
  readonly total: number;
  /** All events up to now are loaded. */
  readonly complete: boolean;
  readonly isActive: boolean;
  /** The timeline is made from the messages of an imported run. */
  readonly isImported: boolean;
  readonly startedAt?: string;
  readonly error?: unknown;
  /** Present as soon as the first message has loaded. */
  readonly history?: RunHistory;
  /** The id of the user's message that the run responds to: null if there is none. */
  readonly question?: string | null;
}

const INITIAL: Progress = { loaded: 0, total: 0, complete: false, isActive: false, isImported: false };

export class RunTimeline {
  readonly events: TimelineEvent[] = [];
  readonly times: number[] = [];
  readonly outline = new Outline();
  private progress = INITIAL;
  private readonly listeners = new Set<() => void>();

  constructor(readonly runId: string) {}

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  readonly snapshot = (): Progress => this.progress;

  /** Reads all events and those that follow. Calls `changed` when the messages of an imported run have changed. */
  async follow(signal: AbortSignal, changed: () => void): Promise<void> {
    try {
      await Promise.all([this.readFirstMessage(signal), this.read(signal)]);
      if (this.progress.isImported) await this.watch(signal, changed);
    } catch (error) {
      if (!signal.aborted) this.update({ error });
    }
  }

  /** Reads the message that the run starts with: a new one, or the one that it continues. */
  private async readFirstMessage(signal: AbortSignal): Promise<void> {
    const { messages, question } = await readMoment(this.runId, 0, signal);
    const first = messages.at(-1);
    this.update({
      question,
      history: first && new RunHistory(this.events, first, this.runId),
    });
  }

  private async read(signal: AbortSignal): Promise<void> {
    let wait = 0;
    for (;;) {
      const after = this.events.at(-1)?.seq ?? 0;
      const page = await readTimeline(this.runId, { after, limit: PAGE_SIZE, wait }, signal);
      if (signal.aborted) return;
      this.add(page);
      if (page.next !== undefined) continue;
      if (!page.active || page.imported) return;
      wait = WAIT_SECONDS;
    }
  }

  private add(page: TimelinePage): void {
    for (const event of page.items) {
      this.events.push(event);
      this.times.push(Math.max(event.time, this.times.at(-1) ?? 0));
    }
    this.outline.add(page.items);
    this.update({
      loaded: this.events.length,
      total: page.total,
      complete: page.next === undefined,
      isActive: page.active,
      isImported: page.imported,
      startedAt: page.startedAt,
    });
  }

  private async watch(signal: AbortSignal, changed: () => void): Promise<void> {
    while (this.progress.isActive) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
      if (signal.aborted) return;
      const now = await readTimeline(this.runId, { after: this.events.length, limit: 1 }, signal);
      if (now.total !== this.progress.total || !now.active) return changed();
    }
  }

  private update(changes: Partial<Progress>): void {
    this.progress = { ...this.progress, ...changes };
    for (const listener of this.listeners) listener();
  }
}

/** The timeline of a run. It is read while the component is mounted. */
export function useRunTimeline(runId: string): { timeline: RunTimeline; progress: Progress } {
  const [timeline, setTimeline] = useState(() => new RunTimeline(runId));
  useEffect(() => {
    const abort = new AbortController();
    const fresh = timeline.events.length ? new RunTimeline(runId) : timeline;
    if (fresh !== timeline) setTimeline(fresh);
    else void timeline.follow(abort.signal, () => setTimeline(new RunTimeline(runId)));
    return () => abort.abort();
  }, [runId, timeline]);
  return { timeline, progress: useSyncExternalStore(timeline.subscribe, timeline.snapshot) };
}
