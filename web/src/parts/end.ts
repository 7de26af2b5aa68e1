/** The end of the run of a message, in its metadata. */
import type { Message } from "../partita.gen";

const STATUSES = ["failed", "cancelled", "interrupted"] as const;

export interface End {
  readonly status: (typeof STATUSES)[number];
  readonly reason: string;
}

/** How the run of a message ended; null if it completed or is still running. */
export function endOf(message: Message): End | null {
  const { ended } = (message.content.metadata ?? {}) as { ended?: { status?: unknown; reason?: unknown } };
  const status = STATUSES.find((one) => one === ended?.status);
  if (!status) return null;
  return { status, reason: typeof ended?.reason === "string" ? ended.reason : "" };
}
