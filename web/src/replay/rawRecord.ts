/** What the agent sent, byte for byte, beside an event. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type LogRecord, readLog, type TimelineEvent } from "../api/runs";
import { kindOf } from "./segments";

const AT_ONCE = 40;

/** The event whose bytes an event came from: its own, or those of the one that came with the same bytes. */
export function bytesOf(events: readonly TimelineEvent[], index: number): TimelineEvent | undefined {
  const event = events[index];
  if (!event || event.raw !== undefined || kindOf(event) === "note") return event;
  const source = events.slice(Math.max(index - AT_ONCE, 0), index).findLast((one) => one.raw !== undefined);
  return source && source.time === event.time ? source : event;
}

/** A record of a log. Those around it come along, so that stepping on asks for nothing. */
export function useRawRecord(runId: string, seq: number | undefined, enabled: boolean) {
  const first = seq === undefined ? 0 : Math.floor((seq - 1) / AT_ONCE) * AT_ONCE;
  const around = useQuery({
    queryKey: ["run-log", runId, first],
    queryFn: ({ signal }) => readLog(runId, { after: first, limit: AT_ONCE }, signal),
    enabled: enabled && seq !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const found = recordIn(around.data?.items, seq);
  const missing = seq !== undefined && around.isSuccess && !around.isPlaceholderData && !found;
  const alone = useQuery({
    queryKey: ["run-log", runId, "one", seq],
    queryFn: ({ signal }) => readLog(runId, { after: (seq ?? 1) - 1, limit: 1 }, signal),
    enabled: enabled && missing, // a page ends early where records are large, or the run had not come so far
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { record: found ?? recordIn(alone.data?.items, seq), error: around.error ?? alone.error };
}

const recordIn = (items: readonly LogRecord[] | undefined, seq: number | undefined): LogRecord | undefined =>
  items?.find((one) => one.seq === seq);
