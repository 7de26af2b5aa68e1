/** Short texts for events and times. */
import type { TimelineEvent } from "../api/runs";
import type { Chunk } from "../partita.gen";
import { visible } from "../ui/sanitize";
import { unwrapped } from "./segments";

/** 0.0 s, 12.4 s, 1 min 3 s, 2 h 5 min 10 s */
export function stopwatch(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = `${minutes % 60} min ${whole % 60} s`;
  return minutes < 60 ? rest : `${Math.floor(minutes / 60)} h ${rest}`;
}

/** 0:12.4, 1:03.0, 2:05:10.2: of equal width in a column. */
export function counter(milliseconds: number): string {
  const tenths = Math.round(milliseconds / 100);
  const seconds = `${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
  const minutes = Math.floor(tenths / 600);
  if (minutes < 60) return `${minutes}:${seconds}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${seconds}`;
}

const MAX_LENGTH = 160;

/** The beginning of a text on one line. */
function oneLine(text: string, longest = MAX_LENGTH): string {
  const line = visible(text.slice(0, longest * 2)).replace(/\s+/g, " ");
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

const TEXT_MEMBERS = [
  "delta",
  "inputTextDelta",
  "toolName",
  "errorText",
  "url",
  "title",
  "messageId",
  "finishReason",
];

/** A summary of a chunk. */
export function summaryOf(event: TimelineEvent): string {
  if (!event.chunk) return "bytes without a chunk";
  const { chunk } = unwrapped(event.chunk);
  for (const name of TEXT_MEMBERS) {
    const value = chunk[name];
    if (typeof value === "string") return oneLine(value);
  }
  return oneLine(rest(chunk));
}

function rest(chunk: Chunk): string {
  const { type: _, id: __, toolCallId: ___, ...others } = chunk as Record<string, unknown>;
  return Object.keys(others).length ? pretty(others, MAX_LENGTH * 2, undefined) : "";
}

/** A value as JSON, truncated. */
export function pretty(value: unknown, longest: number, indent: number | undefined = 2): string {
  const text = JSON.stringify(value, null, indent) ?? "";
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** The type of a chunk, with a mark for each level of nesting. */
export function titleOf(event: TimelineEvent): string {
  if (!event.chunk) return "bytes";
  const { chunk, path } = unwrapped(event.chunk);
  return "› ".repeat(path.length) + chunk.type;
}
