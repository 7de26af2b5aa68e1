import { useSyncExternalStore } from "react";
import type { TimelineEvent } from "../api/runs";
import { CopyButton } from "../ui/CopyButton";
import { count } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./EventDetail.module.css";
import type { Player } from "./player";
import { bytesOf, useRawRecord } from "./rawRecord";
import { pretty, stopwatch, titleOf } from "./told";

const LONGEST = 30_000;

interface Props {
  readonly runId: string;
  readonly events: readonly TimelineEvent[];
  readonly player: Player;
  readonly retold: boolean;
}

/** The event of this very moment: its chunk, and the agent's own bytes. */
export function EventDetail({ runId, events, player, retold }: Props) {
  const place = useSyncExternalStore(player.subscribe, () => player.snapshot().place);
  const event = events[place - 1];
  const source = event && bytesOf(events, place - 1);
  const { record, error } = useRawRecord(runId, source?.raw, true);
  if (!event) {
    return (
      <div className={styles.detail}>
        <p className={styles.nothing}>Nothing has come yet.</p>
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
          {event.chunk && <CopyButton label="Copy the chunk" text={() => JSON.stringify(event.chunk)} />}
        </header>
        {event.chunk ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
          <pre className={styles.code} data-chunk tabIndex={0}>
            {visible(pretty(event.chunk, LONGEST))}
          </pre>
        ) : (
          <p className={styles.nothing}>The agent's bytes gave no chunk here.</p>
        )}
      </section>
      <section aria-label="The agent's own bytes">
        <header className={styles.head}>
          <h2>{retold ? "Line of the agent's log" : "The agent's own bytes"}</h2>
          <span>{sourceNote(event, source, retold)}</span>
          {record?.raw !== undefined && <CopyButton label="Copy the bytes" text={record.raw} />}
        </header>
        <Raw
          text={record?.raw}
          encoding={record?.encoding}
          absent={source?.raw === undefined}
          error={error}
          retold={retold}
        />
      </section>
    </div>
  );
}

function sourceNote(event: TimelineEvent, source: TimelineEvent | undefined, retold: boolean): string {
  if (source?.raw === undefined) return "";
  if (retold) return `line ${count(source.raw)}, the last one then`;
  return source.seq === event.seq ? "" : `came with event ${count(source.seq)}`;
}

interface RawProps {
  readonly text?: string;
  readonly encoding?: string;
  readonly absent: boolean;
  readonly error: unknown;
  readonly retold: boolean;
}

function Raw({ text, encoding, absent, error, retold }: RawProps) {
  if (absent) {
    const why = retold ? "No line of the log is kept for this." : "None: Partita wrote this event itself.";
    return <p className={styles.nothing}>{why}</p>;
  }
  if (text === undefined) {
    return <p className={styles.nothing}>{error instanceof Error ? error.message : "Loading …"}</p>;
  }
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return (
    <>
      {encoding === "base64" && <p className={styles.nothing}>No text: shown as base64.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys */}
      <pre className={styles.code} data-raw tabIndex={0}>
        {visible(shown)}
      </pre>
    </>
  );
}
