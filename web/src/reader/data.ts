/** What a shared file holds. */
import type { Message, Thread } from "../partita.gen";

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

/** What stands in the file; null when it is damaged. */
export function readShared(text: string): Shared | null {
  try {
    const data = JSON.parse(text) as Partial<Shared>;
    if (!Array.isArray(data.messages) || !data.thread) return null;
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
