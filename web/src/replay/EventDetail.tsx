import { useSyncExternalStore } from "react";
import type { TimelineEvent } from "../api/runs";
import { CopyButton } from "../ui/CopyButton";
import { count } from "../ui/format";
import { visible } from "../ui/sanitize";
import styles from "./EventDetail.module.css";
import { pretty, stopwatch, titleOf } from "./eventText";
import type { Player } from "./player";
import { sourceEvent, useRawRecord } from "./rawRecord";

const MAX_LENGTH = 30_000;

interface Props {
  readonly runId: string;
  readonly events: readonly TimelineEvent[];
  readonly player: Player;
  readonly isImported: boolean;
}

/** The event at the current position: its chunk and the agent's raw bytes. */
export function EventDetail({ runId, events, player, isImported }: Props) {
  const position = useSyncExternalStore(player.subscribe, () => player.snapshot().position);
  const event = events[position - 1];
  const source = event && sourceEvent(events, position - 1);
  const { record, error } = useRawRecord(runId, source?.raw, true);
  if (!event) {
    return (
      <div className={styles.detail}>
        <p className={styles.nothing}>Play, or select an event, to see what the agent sent.</p>
      </div>
    );
  }
  return (
    <div className={styles.detail} data-seq={event.seq}>
      <section aria-label="Chunk">
        <header className={styles.head}>
          <h2>{visible(titleOf(event))}</h2>
          <span>
            event {count(event.seq)}, {stopwatch(event.time)}
          </span>
          {event.chunk && <CopyButton label="Copy chunk" text={() => JSON.stringify(event.chunk)} />}
        </header>
        {event.chunk ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <pre className={styles.code} data-chunk tabIndex={0}>
            {visible(pretty(event.chunk, MAX_LENGTH))}
          </pre>
        ) : (
          <p className={styles.nothing}>These bytes did not produce a chunk.</p>
        )}
      </section>
      <section aria-label="Raw bytes of the agent">
        <header className={styles.head}>
          <h2>{isImported ? "Line of the agent's log" : "Raw bytes of the agent"}</h2>
          <span>{sourceNote(event, source, isImported)}</span>
          {record?.raw !== undefined && <CopyButton label="Copy bytes" text={record.raw} />}
        </header>
        <Raw
          text={record?.raw}
          encoding={record?.encoding}
          absent={source?.raw === undefined}
          error={error}
          isImported={isImported}
        />
      </section>
    </div>
  );
}

function sourceNote(event: TimelineEvent, source: TimelineEvent | undefined, isImported: boolean): string {
  if (source?.raw === undefined) return "";
  if (isImported) return `line ${count(source.raw)}, the last one at this time`;
  return source.seq === event.seq ? "" : `same bytes as event ${count(source.seq)}`;
}

interface RawProps {
  readonly text?: string;
  readonly encoding?: string;
  readonly absent: boolean;
  readonly error: unknown;
  readonly isImported: boolean;
}

function Raw({ text, encoding, absent, error, isImported }: RawProps) {
  if (absent) {
    const why = isImported ? "No log line is stored for this event." : "None: Partita generated this event.";
    return <p className={styles.nothing}>{why}</p>;
  }
  if (text === undefined) {
    return <p className={styles.nothing}>{error instanceof Error ? error.message : "Loading …"}</p>;
  }
  const shown = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return (
    <>
      {encoding === "base64" && <p className={styles.nothing}>Not text; shown as base64.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre className={styles.code} data-raw tabIndex={0}>
        {visible(shown)}
      </pre>
    </>
  );
}
