import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef, useSyncExternalStore } from "react";
import type { TimelineEvent } from "../api/runs";
import styles from "./EventList.module.css";
import type { Player } from "./player";
import { kindOf } from "./segments";
import { counter, gist, titleOf } from "./told";

const ROW = 26;

interface Props {
  readonly events: readonly TimelineEvent[];
  /** How many events there are: the list itself only grows. */
  readonly loaded: number;
  readonly player: Player;
  readonly onKey: (event: KeyboardEvent) => boolean;
}

/** All events of a run; the one of this moment is marked and kept in sight. */
export function EventList({ events, loaded, player, onKey }: Props) {
  const place = useSyncExternalStore(player.subscribe, () => player.snapshot().place);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: loaded,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const current = place - 1;
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
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
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
              data-come={row.index <= current}
              style={{ height: ROW, transform: `translateY(${row.start}px)` }}
              onClick={() => {
                player.pause();
                player.goTo(row.index + 1);
              }}
            >
              <span className={styles.time}>{counter(event.time)}</span>
              <span className={styles.type}>{titleOf(event)}</span>
              <span className={styles.gist}>{gist(event)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
