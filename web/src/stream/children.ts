/** What sub-agents do while a message comes: transient `data-child` parts, folded into messages below their call. */
import type { Chunk, Message } from "../partita.gen";
import { isObject, Misfit } from "./metadata";
import { ChildThread } from "./reduce";

interface Told {
  readonly path: readonly string[];
  readonly chunk?: Chunk;
  readonly message?: Message;
}

/** Feed it the `data` of every `data-child` part; it has the messages below each call, to any depth. */
export class ChildFold {
  private readonly threads = new Map<string, ChildThread>();

  /** Take `{path, chunk}` or `{path, message}`; what is neither, or fits nowhere, is passed over. */
  feed(data: unknown): void {
    if (!isTold(data)) return;
    const [first, ...rest] = data.path as readonly [string, ...string[]];
    const thread = this.threads.get(first) ?? new ChildThread(first);
    try {
      if (data.message && !rest.length) thread.append(data.message);
      else if (data.message) thread.feed({ type: "child-message", path: rest, message: data.message });
      else if (data.chunk)
        thread.feed(rest.length ? { type: "child", path: rest, chunk: data.chunk } : data.chunk);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      return;
    }
    this.threads.set(first, thread);
  }

  /** The messages below a call so far; the very same list until something in it changes. */
  messages(callId: string): readonly Message[] | undefined {
    return this.threads.get(callId)?.messages();
  }

  /** Forget everything: another answer begins. */
  clear(): void {
    this.threads.clear();
  }
}

function isTold(data: unknown): data is Told {
  if (!isObject(data) || !Array.isArray(data.path) || !data.path.length) return false;
  if (!data.path.every((step) => typeof step === "string")) return false;
  return [data.chunk, data.message].some((one) => isObject(one));
}
