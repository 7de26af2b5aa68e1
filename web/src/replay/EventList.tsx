import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef, useSyncExternalStore } from "react";
import type { TimelineEvent } from "../api/runs";
import styles from "./EventList.module.css";
import { counter, summaryOf, titleOf } from "./eventText";
import type { Player } from "./player";
import { kindOf } from "./segments";

const ROW_HEIGHT = 26;

interface Props {
  readonly events: readonly TimelineEvent[];
  /** The number of events. The array itself is mutable and only grows. */
  readonly loaded: number;
  readonly player: Player;
  readonly onKey: (event: KeyboardEvent) => boolean;
}

/** All events of a run. The current one is selected and scrolled into view. */
export function EventList({ events, loaded, player, onKey }: Props) {
  const position = useSyncExternalStore(player.subscribe, () => player.snapshot().position);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: loaded,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const current = position - 1;
  useEffect(() => {
    if (loaded > 0) rows.scrollToIndex(Math.max(current, 0), { align: "center" });
  }, [rows, current, loaded]);
  const shown = rows.getVirtualItems();
  const isShown = shown.some((row) => row.index === current);
  return (
    <div
      ref={box}
      className={styles.list}
      role="listbox"
      aria-label="Events"
      aria-activedescendant={isShown ? `event-${current}` : undefined}
      tabIndex={0}
      onKeyDown={(event) => {
        const mirrored = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight" }[event.key];
        if (onKey(mirrored ? { ...event, key: mirrored } : event)) event.preventDefault();
      }}
    >
      <div role="presentation" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {shown.map((row) => {
          const event = events[row.index];
          if (!event) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
            <div
              key={row.key}
              id={`event-${row.index}`}
              role="option"
              tabIndex={-1}
              aria-selected={row.index === current}
              aria-setsize={loaded}
              aria-posinset={row.index + 1}
              className={styles.row}
              data-kind={kindOf(event)}
              data-past={row.index <= current}
              style={{ height: ROW_HEIGHT, transform: `translateY(${row.start}px)` }}
              onClick={() => {
                player.pause();
                player.goTo(row.index + 1);
              }}
            >
              <span className={styles.time}>{counter(event.time)}</span>
              <span className={styles.type}>{titleOf(event)}</span>
              <span className={styles.summary}>{summaryOf(event)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
