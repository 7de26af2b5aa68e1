/** The estimated heights of entries in pixels, before they have been measured. */
import type { Row } from "./rows";
import { callsOf } from "./slices";

const CHARACTERS_PER_LINE = 88;
const LINE_HEIGHT = 25;
const CALL_HEIGHT = 33;
const HEAD_HEIGHT = 44;
const LIVE_ROW_HEIGHT = 96;
const EVENT_HEIGHT = 44;
/** Of a text beside calls, whose size is unknown. */
const SHORT_TEXT = 80;

export const TURN_HEIGHT = 40;
export const GROUP_HEIGHT = 42;

/** The estimated height of a whole message. */
export function estimate({ role, stored }: Pick<Row, "role" | "stored">): number {
  if (!stored) return LIVE_ROW_HEIGHT;
  if (stored.type === "event") return EVENT_HEIGHT;
  const calls = estimateOfCalls(callsOf(stored) + (stored.reasoning ? 1 : 0));
  if (stored.calls) return HEAD_HEIGHT + calls + (stored.end === 0 ? 0 : SHORT_TEXT);
  const lines = Math.ceil(Math.max(0, stored.size - 60) / CHARACTERS_PER_LINE);
  return Math.min((role === "user" ? 72 : 60) + calls + lines * LINE_HEIGHT, 1600);
}

export const estimateOfText = HEAD_HEIGHT + SHORT_TEXT;

export const estimateOfCalls = (calls: number): number => calls * CALL_HEIGHT;
