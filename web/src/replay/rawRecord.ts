/** The agent's raw bytes of an event. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type LogRecord, readLog, type TimelineEvent } from "../api/runs";
import { kindOf } from "./segments";

const PAGE_SIZE = 40;

/** The event with the bytes that produced an event: the event itself, or an earlier one from the same bytes. */
export function sourceEvent(events: readonly TimelineEvent[], index: number): TimelineEvent | undefined {
  const event = events[index];
  if (!event || event.raw !== undefined || kindOf(event) === "note") return event;
  const source = events.slice(Math.max(index - PAGE_SIZE, 0), index).findLast((one) => one.raw !== undefined);
  return source && source.time === event.time ? source : event;
}

/** A log record. The records around it are fetched with it, so that stepping needs no further request. */
export function useRawRecord(runId: string, seq: number | undefined, enabled: boolean) {
  const first = seq === undefined ? 0 : Math.floor((seq - 1) / PAGE_SIZE) * PAGE_SIZE;
  const around = useQuery({
    queryKey: ["run-log", runId, first],
    queryFn: ({ signal }) => readLog(runId, { after: first, limit: PAGE_SIZE }, signal),
    enabled: enabled && seq !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const found = recordIn(around.data?.items, seq);
  const missing = seq !== undefined && around.isSuccess && !around.isPlaceholderData && !found;
  const alone = useQuery({
    queryKey: ["run-log", runId, "one", seq],
    queryFn: ({ signal }) => readLog(runId, { after: (seq ?? 1) - 1, limit: 1 }, signal),
    enabled: enabled && missing, // a page ends early if records are large or the run had not reached it
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { record: found ?? recordIn(alone.data?.items, seq), error: around.error ?? alone.error };
}

const recordIn = (items: readonly LogRecord[] | undefined, seq: number | undefined): LogRecord | undefined =>
  items?.find((one) => one.seq === seq);
