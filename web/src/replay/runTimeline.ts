/** The events of a run, page by page, and those that come while it is at work. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { readMoment, readTimeline, type TimelineEvent, type TimelinePage } from "../api/runs";
import { Frames } from "./fold";
import { Outline } from "./segments";

const AT_ONCE = 2000;
const WAIT_SECONDS = 20;
const LOOK_AGAIN = 5000;

export interface Progress {
  /** How many events are here; changes with every page. */
  readonly loaded: number;
  readonly total: number;
  /** All that there is so far is here. */
  readonly complete: boolean;
  readonly atWork: boolean;
  readonly retold: boolean;
  readonly startedAt?: string;
  readonly error?: unknown;
  /** Present as soon as messages can be told. */
  readonly frames?: Frames;
}

const NOTHING: Progress = { loaded: 0, total: 0, complete: false, atWork: false, retold: false };

export class RunTimeline {
  readonly events: TimelineEvent[] = [];
  readonly times: number[] = [];
  readonly outline = new Outline();
  private progress = NOTHING;
  private readonly listeners = new Set<() => void>();

  constructor(readonly runId: string) {}

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  readonly snapshot = (): Progress => this.progress;

  /** Reads all of it, and what comes; `changed` says that a run that is told from its messages has others now. */
  async follow(signal: AbortSignal, changed: () => void): Promise<void> {
    try {
      await Promise.all([this.begin(signal), this.read(signal)]);
      if (this.progress.retold) await this.watch(signal, changed);
    } catch (error) {
      if (!signal.aborted) this.tell({ error });
    }
  }

  /** What the run begins with: a new message, or the one that it goes on with. */
  private async begin(signal: AbortSignal): Promise<void> {
    const begun = (await readMoment(this.runId, 0, signal)).messages.at(-1);
    if (begun) this.tell({ frames: new Frames(this.events, begun, this.runId) });
  }

  private async read(signal: AbortSignal): Promise<void> {
    let wait = 0;
    for (;;) {
      const after = this.events.at(-1)?.seq ?? 0;
      const page = await readTimeline(this.runId, { after, limit: AT_ONCE, wait }, signal);
      if (signal.aborted) return;
      this.add(page);
      if (page.next !== undefined) continue;
      if (!page.atWork || page.retold) return;
      wait = WAIT_SECONDS;
    }
  }

  private add(page: TimelinePage): void {
    for (const event of page.items) {
      this.events.push(event);
      this.times.push(Math.max(event.time, this.times.at(-1) ?? 0));
    }
    this.outline.add(page.items);
    this.tell({
      loaded: this.events.length,
      total: page.total,
      complete: page.next === undefined,
      atWork: page.atWork,
      retold: page.retold,
      startedAt: page.startedAt,
    });
  }

  private async watch(signal: AbortSignal, changed: () => void): Promise<void> {
    while (this.progress.atWork) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
      if (signal.aborted) return;
      const now = await readTimeline(this.runId, { after: this.events.length, limit: 1 }, signal);
      if (now.total !== this.progress.total || !now.atWork) return changed();
    }
  }

  private tell(some: Partial<Progress>): void {
    this.progress = { ...this.progress, ...some };
    for (const listener of this.listeners) listener();
  }
}

/** The timeline of a run, read while it is looked at. */
export function useRunTimeline(runId: string): { timeline: RunTimeline; progress: Progress } {
  const [timeline, setTimeline] = useState(() => new RunTimeline(runId));
  useEffect(() => {
    const leaving = new AbortController();
    const fresh = timeline.events.length ? new RunTimeline(runId) : timeline;
    if (fresh !== timeline) setTimeline(fresh);
    else void timeline.follow(leaving.signal, () => setTimeline(new RunTimeline(runId)));
    return () => leaving.abort();
  }, [runId, timeline]);
  return { timeline, progress: useSyncExternalStore(timeline.subscribe, timeline.snapshot) };
}
