/** What a shared file holds. */
import type { Message, Thread, ToolView } from "../partita.gen";
import { rememberViews } from "../viewing/toolViews";

export interface Shared {
  readonly partita: string;
  readonly thread: Pick<Thread, "id" | "title" | "agent" | "project" | "createdAt" | "updatedAt">;
  readonly messages: readonly Message[];
  readonly facts: {
    readonly redacted?: number;
    readonly leftOut?: number;
    readonly filesLeftOut?: number;
  };
}

interface Written extends Shared {
  /** For each message: what its tool calls are, by their JSON Pointers into the message. */
  readonly views: readonly Readonly<Record<string, ToolView>>[];
}

/** What stands in the file; null when it is damaged. */
export function readShared(text: string): Shared | null {
  try {
    const data = JSON.parse(text) as Partial<Written>;
    if (!Array.isArray(data.messages) || !data.thread) return null;
    for (const [at, message] of data.messages.entries()) rememberViews(message, data.views?.[at]);
    return {
      partita: data.partita ?? "",
      thread: data.thread,
      messages: data.messages,
      facts: data.facts ?? {},
    };
  } catch {
    return null;
  }
}
