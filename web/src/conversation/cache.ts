/** A cache of the messages around the visible rows. */
import { getMessages, type MessagePage, type OutlineRow, PAGE, type PartTime } from "../api/messages";
import type { Timing } from "../context/renderContext";
import { rememberViews } from "../context/toolViews";
import type { Message } from "../partita.gen";

/** Messages that stay in the cache. */
const MAX_MESSAGES = 400;

interface CachedMessage {
  readonly message: Message;
  readonly version: number;
  readonly times: ReadonlyMap<string, Timing>;
}

export class MessageCache {
  private readonly cached = new Map<string, CachedMessage>();
  private readonly requested = new Map<string, number>(); // by id, the version that is being fetched
  private readonly failures = new Map<string, unknown>(); // by id, why the last request failed
  private readonly listeners = new Set<() => void>();
  private updates = 0;
  private indexes: { rows: readonly OutlineRow[]; byId: ReadonlyMap<string, number> } = {
    rows: [],
    byId: new Map(),
  };

  constructor(private readonly threadId: string) {}

  get(id: string): Message | undefined {
    return this.cached.get(id)?.message;
  }

  timing(id: string, path: string): Timing | undefined {
    return this.cached.get(id)?.times.get(path);
  }

  /** The error of the last request of a message, unless a version of the message is cached. */
  failure(id: string): unknown {
    return this.cached.has(id) ? undefined : this.failures.get(id);
  }

  /** The cached message that contains another one, such as the message of a sub-agent. */
  parentOf(id: string): string | undefined {
    for (const [own, { message }] of this.cached) if (contains(message, id)) return own;
    return undefined;
  }

  get size(): number {
    return this.cached.size;
  }

  /** No message has been requested yet. */
  get isEmpty(): boolean {
    return !this.cached.size && !this.requested.size;
  }

  /** Adds messages that were loaded after, or together with, the rows of the outline. */
  add(rows: readonly OutlineRow[], page: MessagePage): void {
    const versions = new Map(rows.map((row) => [row.id, row.version]));
    for (const message of page.items) {
      const version = versions.get(message.id) ?? 0;
      rememberViews(message, page.views?.[message.id]);
      this.cached.set(message.id, { message, version, times: timesOf(page.timings?.[message.id]) });
    }
    this.changed();
  }

  private changed(): void {
    this.updates += 1;
    for (const listener of this.listeners) listener();
  }

  /** Loads the messages with these ids, in the order of the rows, and evicts distant ones. */
  loadAround(rows: readonly OutlineRow[], ids: readonly string[]): void {
    const wanted = new Set(ids);
    const indexes = this.indexesOf(rows);
    const at = ids.flatMap((id) => indexes.get(id) ?? []);
    const [first, last] = [at[0], at.at(-1)];
    if (first === undefined || last === undefined) return;
    // Whole pages, as they are prefetched, unless many messages between them are folded.
    const isDense = last - first < 2 * ids.length + PAGE;
    const near = isDense
      ? rows.slice(Math.floor(first / PAGE) * PAGE, (Math.floor(last / PAGE) + 1) * PAGE)
      : rows.slice(first, last + 1).filter(({ id }) => wanted.has(id));
    this.evict(near);
    void this.load(near);
  }

  private indexesOf(rows: readonly OutlineRow[]): ReadonlyMap<string, number> {
    if (this.indexes.rows !== rows)
      this.indexes = { rows, byId: new Map(rows.map(({ id }, index) => [id, index])) };
    return this.indexes.byId;
  }

  /** Loads the messages that are missing or have another version than the outline. Keeps errors as `failure`. */
  async load(rows: readonly OutlineRow[]): Promise<void> {
    const missing = rows.filter((row) => {
      const known = this.requested.get(row.id) ?? this.cached.get(row.id)?.version;
      return known !== row.version;
    });
    const pieces: Promise<void>[] = [];
    for (let start = 0; start < missing.length; start += PAGE)
      pieces.push(this.fetch(missing.slice(start, start + PAGE)));
    await Promise.all(pieces);
  }

  private async fetch(rows: readonly OutlineRow[]): Promise<void> {
    for (const row of rows) this.requested.set(row.id, row.version);
    let page: MessagePage | undefined;
    try {
      page = await getMessages(
        this.threadId,
        rows.map((row) => row.id),
      );
      for (const row of rows) this.failures.delete(row.id);
    } catch (error) {
      for (const row of rows) this.failures.set(row.id, error);
    } finally {
      for (const row of rows) if (this.requested.get(row.id) === row.version) this.requested.delete(row.id);
    }
    if (page) this.add(rows, page);
    else this.changed();
  }

  /** Removes the messages that are not near the visible rows, if there are many. */
  private evict(near: readonly OutlineRow[]): void {
    if (this.cached.size <= MAX_MESSAGES) return;
    const kept = new Set(near.map((row) => row.id));
    for (const id of this.cached.keys()) if (!kept.has(id)) this.cached.delete(id);
  }

  readonly version = (): number => this.updates;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

function timesOf(times: readonly PartTime[] = []): ReadonlyMap<string, Timing> {
  return new Map(
    times.map(([path, startedAt, endedAt]) => [
      path,
      { startedAt: startedAt ?? undefined, endedAt: endedAt ?? undefined },
    ]),
  );
}

function contains(message: Message, id: string): boolean {
  const network = message.role === "assistant" ? message.content.networkExecution : undefined;
  const nested = [
    ...message.content.parts.flatMap((part) => (part as { children?: readonly Message[] }).children ?? []),
    ...(network?.finalResult?.messages ?? []),
  ];
  return nested.some((child) => child.id === id || contains(child, id));
}
