/** The messages that are at hand: those around what is seen, and no more than that. */
import { getMessages, type OutlineRow, PAGE, type PartTime } from "../api/messages";
import type { Message } from "../partita.gen";
import { rememberViews } from "../viewing/toolViews";
import type { Timing } from "../viewing/viewing";

/** So many messages stay at hand. */
const MOST = 400;
/** So many beyond what is seen are at hand, so that who scrolls finds them there. */
const AHEAD = 25;

interface Held {
  readonly message: Message;
  readonly version: number;
  readonly times: ReadonlyMap<string, Timing>;
}

export class MessageCache {
  private readonly held = new Map<string, Held>();
  private readonly asked = new Map<string, number>(); // by id, the version that is being fetched
  private readonly listeners = new Set<() => void>();
  private count = 0;
  /** Why the last page did not come. */
  problem: unknown = null;

  constructor(private readonly threadId: string) {}

  get(id: string): Message | undefined {
    return this.held.get(id)?.message;
  }

  timing(id: string, path: string): Timing | undefined {
    return this.held.get(id)?.times.get(path);
  }

  /** The message at hand that holds another one inside it, as a sub-agent's. */
  holderOf(id: string): string | undefined {
    for (const [own, { message }] of this.held) if (holdsInside(message, id)) return own;
    return undefined;
  }

  get size(): number {
    return this.held.size;
  }

  /** See to it that these rows are at hand, with some around them; what is far away is let go. */
  want(rows: readonly OutlineRow[], first: number, last: number): void {
    const from = Math.max(0, Math.floor((first - AHEAD) / PAGE) * PAGE);
    const to = Math.min(rows.length, (Math.floor((last + AHEAD) / PAGE) + 1) * PAGE);
    this.letGo(rows, (first + last) / 2);
    void this.load(rows.slice(from, to));
  }

  /** See to it that these are at hand, and that they are as the outline knows them. */
  async load(rows: readonly OutlineRow[]): Promise<void> {
    const missing = rows.filter((row) => {
      const known = this.asked.get(row.id) ?? this.held.get(row.id)?.version;
      return known !== row.version;
    });
    const pieces: Promise<void>[] = [];
    for (let start = 0; start < missing.length; start += PAGE)
      pieces.push(this.fetch(missing.slice(start, start + PAGE)));
    await Promise.all(pieces);
  }

  private async fetch(rows: readonly OutlineRow[]): Promise<void> {
    for (const row of rows) this.asked.set(row.id, row.version);
    try {
      const page = await getMessages(
        this.threadId,
        rows.map((row) => row.id),
      );
      const versions = new Map(rows.map((row) => [row.id, row.version]));
      for (const message of page.items) {
        const version = versions.get(message.id) ?? 0;
        rememberViews(message, page.views?.[message.id]);
        this.held.set(message.id, { message, version, times: timesOf(page.timings?.[message.id]) });
      }
      this.problem = null;
    } catch (error) {
      this.problem = error;
    } finally {
      for (const row of rows) if (this.asked.get(row.id) === row.version) this.asked.delete(row.id);
    }
    this.tell();
  }

  /** Let go of what is farthest from the middle of what is seen. */
  private letGo(rows: readonly OutlineRow[], middle: number): void {
    if (this.held.size <= MOST) return;
    const near = rows.slice(Math.max(0, middle - MOST / 4), middle + MOST / 4);
    const kept = new Set(near.map((row) => row.id));
    for (const id of this.held.keys()) if (!kept.has(id)) this.held.delete(id);
  }

  private tell(): void {
    this.count += 1;
    for (const listener of this.listeners) listener();
  }

  readonly version = (): number => this.count;

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

function holdsInside(message: Message, id: string): boolean {
  const network = message.role === "assistant" ? message.content.networkExecution : undefined;
  const below = [
    ...message.content.parts.flatMap((part) => (part as { children?: readonly Message[] }).children ?? []),
    ...(network?.finalResult?.messages ?? []),
  ];
  return below.some((child) => child.id === id || holdsInside(child, id));
}
