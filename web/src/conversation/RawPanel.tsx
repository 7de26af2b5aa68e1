import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { getRaw, type RawRecord } from "../api/messages";
import { getRun } from "../api/runs";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { moment, plural } from "../ui/format";
import { Empty, Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import styles from "./RawPanel.module.css";
import { type RawForm, rawText } from "./raw";

interface Props {
  readonly threadId: string;
  readonly messageId: string;
  /** The message that contains it, if it is a sub-agent's message. */
  readonly parentId?: string;
  readonly onClose: () => void;
}

/** The agent's raw events of a message, in a side panel. */
export function RawPanel({ threadId, messageId, parentId, onClose }: Props) {
  const [form, setForm] = useState<RawForm>("pretty");
  const query = useInfiniteQuery({
    queryKey: ["raw", threadId, messageId],
    queryFn: ({ pageParam, signal }) =>
      getRaw(threadId, messageId, pageParam, signal).catch((error: { status?: number }) => {
        // Runs of this server log nested messages under the outer message.
        if (parentId === undefined || error.status !== 404) throw error;
        return getRaw(threadId, parentId, pageParam, signal);
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next ?? null,
    gcTime: 0,
  });
  const records = query.data?.pages.flatMap((page) => page.items) ?? [];
  const firstPage = query.data?.pages[0];
  return (
    <Dialog title="Raw events" side onClose={onClose}>
      <div className={styles.panel}>
        <div className={styles.bar}>
          <span className={styles.about}>
            {firstPage && summary(records.length, query.hasNextPage, firstPage.exact)}
          </span>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
          <span role="group" aria-label="Event format" className={styles.forms}>
            <Button small aria-pressed={form === "pretty"} onClick={() => setForm("pretty")}>
              Pretty
            </Button>
            <Button small aria-pressed={form === "bytes"} onClick={() => setForm("bytes")}>
              As sent
            </Button>
          </span>
          <CopyButton
            label="Copy all loaded events"
            text={() => records.map((record) => rawText(record, "bytes")).join("\n")}
          />
        </div>
        {query.isPending && <Loading />}
        {query.isError && <Failure error={query.error} retry={() => void query.refetch()} />}
        {firstPage?.reason && <Empty title={firstPage.reason} />}
        <AgentResult runId={records.at(-1)?.runId} />
        {records.length > 0 && (
          <Records
            records={records}
            form={form}
            more={query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : null}
          />
        )}
      </div>
    </Dialog>
  );
}

/** The return value of the agent for the run that wrote the message. */
function AgentResult({ runId }: { readonly runId: string | undefined }) {
  const run = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => getRun(runId ?? "", signal),
    enabled: runId !== undefined,
  });
  const result = run.data?.agentResult;
  if (result === undefined) return null;
  return (
    <details className={styles.result}>
      <summary>Agent result</summary>
      <pre>{visible(shortened(JSON.stringify(result, null, 2)))}</pre>
    </details>
  );
}

function summary(count: number, hasMore: boolean, exact: boolean): string {
  const events = hasMore ? `First ${plural(count, "event")}` : plural(count, "event");
  return exact ? events : `${events} that mention this message`;
}

interface RecordsProps {
  readonly records: readonly RawRecord[];
  readonly form: RawForm;
  readonly more: (() => void) | null;
}

function Records({ records, form, more }: RecordsProps) {
  const scroller = useRef<HTMLElement>(null);
  const list = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (form === "pretty" ? 160 : 70),
    getItemKey: (index) => `${form}-${records[index]?.runId}-${records[index]?.seq}`,
    overscan: 4,
  });
  const items = list.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= records.length - 5) more();
  }, [more, last, records.length]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section ref={scroller} className={styles.records} tabIndex={0} aria-label="Events">
      <ol style={{ height: list.getTotalSize() }}>
        {items.map((item) => {
          const record = records[item.index];
          if (!record) return null;
          return (
            <li
              key={item.key}
              ref={list.measureElement}
              data-index={item.index}
              data-seq={record.seq}
              style={{ top: item.start }}
            >
              <div className={styles.head}>
                <span>
                  {record.seq} · <time dateTime={record.time}>{moment(record.time)}</time>
                </span>
                <CopyButton label={`Copy event ${record.seq}`} text={() => rawText(record, "bytes")} />
              </div>
              <pre>{visible(shortened(rawText(record, form)))}</pre>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const MAX_SHOWN = 20_000;

/** The beginning of a long event. The copy button copies all of it. */
const shortened = (text: string): string =>
  text.length > MAX_SHOWN
    ? `${text.slice(0, MAX_SHOWN)}\n… ${plural(text.length - MAX_SHOWN, "more character")}. Copy the event to see all of it.`
    : text;
