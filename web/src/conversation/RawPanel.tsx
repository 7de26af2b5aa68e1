import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { getRaw, type RawRecord } from "../api/messages";
import { getRun } from "../api/runs";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { moment, plural } from "../ui/format";
import { visible } from "../ui/hostile";
import { Empty, Failure, Loading } from "../ui/States";
import styles from "./RawPanel.module.css";
import { type RawForm, rawText } from "./raw";

interface Props {
  readonly threadId: string;
  readonly messageId: string;
  /** The message that it stands in, if it is a sub-agent's. */
  readonly holderId?: string;
  readonly onClose: () => void;
}

/** The agent's own events that a message came from, beside it. */
export function RawPanel({ threadId, messageId, holderId, onClose }: Props) {
  const [form, setForm] = useState<RawForm>("pretty");
  const query = useInfiniteQuery({
    queryKey: ["raw", threadId, messageId],
    queryFn: ({ pageParam, signal }) =>
      getRaw(threadId, messageId, pageParam, signal).catch((error: { status?: number }) => {
        // A run of ours wrote it together with the message that it stands in.
        if (holderId === undefined || error.status !== 404) throw error;
        return getRaw(threadId, holderId, pageParam, signal);
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next ?? null,
    gcTime: 0,
  });
  const records = query.data?.pages.flatMap((page) => page.items) ?? [];
  const first = query.data?.pages[0];
  return (
    <Dialog title="Raw events" side onClose={onClose}>
      <div className={styles.panel}>
        <div className={styles.bar}>
          <span className={styles.about}>
            {first && about(records.length, query.hasNextPage, first.exact)}
          </span>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
          <span role="group" aria-label="How events are shown" className={styles.forms}>
            <Button small aria-pressed={form === "pretty"} onClick={() => setForm("pretty")}>
              Pretty
            </Button>
            <Button small aria-pressed={form === "bytes"} onClick={() => setForm("bytes")}>
              As sent
            </Button>
          </span>
          <CopyButton
            label="Copy all that is loaded"
            text={() => records.map((record) => rawText(record, "bytes")).join("\n")}
          />
        </div>
        {query.isPending && <Loading />}
        {query.isError && <Failure error={query.error} retry={() => void query.refetch()} />}
        {first?.reason && <Empty title={first.reason} />}
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

/** What the agent returned when the run that wrote the message completed. */
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

function about(count: number, hasMore: boolean, exact: boolean): string {
  const many = hasMore ? `First ${plural(count, "event")}` : plural(count, "event");
  return exact ? many : `${many} that name this message`;
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
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

const MOST = 20_000;

/** Drawn up to a length that a page bears; the copy has it all. */
const shortened = (text: string): string =>
  text.length > MOST
    ? `${text.slice(0, MOST)}\n… ${plural(text.length - MOST, "character")} more: copy the event to see all`
    : text;
