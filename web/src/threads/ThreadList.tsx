import { useVirtualizer } from "@tanstack/react-virtual";
import { Copy, Link, Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { copyThread, pinThread, renameThread, type ThreadSummary } from "../api/threads";
import { copyWithToast } from "../ui/clipboard";
import { useCommands } from "../ui/commands";
import { Menu } from "../ui/Menu";
import { go, href, toThread } from "../ui/routing";
import { toastError } from "../ui/Toasts";
import { useNow } from "../ui/useNow";
import { deleteWithUndo } from "./deletions";
import { nameOf } from "./rows";
import styles from "./ThreadList.module.css";
import { ThreadRow } from "./ThreadRow";

interface Props {
  readonly rows: readonly ThreadSummary[];
  readonly current?: string;
  /** The number of threads; -1 if unknown. */
  readonly total: number;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly onChange: (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => void;
  readonly onRefresh: (ids: readonly string[]) => Promise<void>;
}

const HEIGHT = 56;
/** Rows before the end at which the next page is loaded. */
const LOAD_AHEAD = 20;

/** A virtual list of threads. Changes above the visible rows do not move them. */
export function ThreadList({ rows, current, total, hasMore, onMore, onChange, onRefresh }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [menu, setMenu] = useState<{ readonly row: ThreadSummary; readonly anchor: HTMLElement } | null>(
    null,
  );
  const [isInside, setInside] = useState(false);
  const now = useNow();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
    getItemKey: useCallback((index: number) => rows[index]?.thread.id ?? index, [rows]),
  });
  useScrollAnchor(scroller, rows);

  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - LOAD_AHEAD) onMore();
  }, [hasMore, last, rows.length, onMore]);

  const focus = useCallback(
    (index: number) => {
      const id = rows[index]?.thread.id;
      if (!id) return;
      setActive(id);
      virtual.scrollToIndex(index);
      focusRow(scroller.current, id);
    },
    [rows, virtual],
  );
  const step = (by: number) => {
    const start = rows.findIndex((row) => row.thread.id === (active ?? current));
    focus(start < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, start + by)));
  };
  const chosen = rows.find((row) => row.thread.id === active);

  const pin = (row: ThreadSummary) => {
    const pinned = !row.pinned;
    const { id } = row.thread;
    onChange(new Set([id]), (was) => ({ ...was, pinned }));
    pinThread(id, pinned)
      .then(() => onRefresh([id]))
      .catch((error: unknown) => {
        onChange(new Set([id]), (was) => ({ ...was, pinned: !pinned }));
        toastError(error);
      });
  };
  const rename = (row: ThreadSummary, title: string | null) => {
    const { id } = row.thread;
    setRenaming(null);
    focusRow(scroller.current, id);
    if (title === null || title === (row.thread.title ?? "")) return;
    onChange(new Set([id]), (was) => ({ ...was, thread: { ...was.thread, title } }));
    renameThread(id, title)
      .catch(toastError)
      .finally(() => onRefresh([id]).catch(toastError));
  };
  const remove = (row: ThreadSummary) => {
    const index = rows.indexOf(row);
    focus(index + 1 < rows.length ? index + 1 : index - 1);
    deleteWithUndo(row.thread.id, nameOf(row));
    if (row.thread.id === current) go(href([]));
  };
  const copyLink = (row: ThreadSummary) =>
    void copyWithToast(new URL(toThread(row.thread.id), location.href).href, "Link copied");
  const duplicate = (row: ThreadSummary) => {
    copyThread(row.thread.id)
      .then((copy) => {
        go(toThread(copy.id));
        return onRefresh([copy.id]);
      })
      .catch(toastError);
  };

  useCommands([
    { keys: "J", what: "Next session in the list", group: "Sessions", run: () => step(1) },
    { keys: "K", what: "Previous session in the list", group: "Sessions", run: () => step(-1) },
  ]);
  useCommands(
    [
      { what: "Pin or unpin the session", group: "Sessions", run: () => chosen && pin(chosen) },
      {
        keys: "F2",
        what: "Rename the session",
        group: "Sessions",
        run: () => chosen && setRenaming(chosen.thread.id),
      },
      { keys: "Delete", what: "Delete the session", group: "Sessions", run: () => chosen && remove(chosen) },
    ],
    isInside,
  );
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the shortcuts of the list are active while it has the focus */}
      <div
        ref={scroller}
        className={styles.scroller}
        onFocus={() => setInside(true)}
        onBlur={(event) => setInside(event.currentTarget.contains(event.relatedTarget))}
      >
        <ul className={styles.list} aria-label="Threads" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const { id } = row.thread;
            return (
              <ThreadRow
                key={id}
                row={row}
                now={now}
                isCurrent={id === current}
                isRenaming={id === renaming}
                isLastPinned={row.pinned === true && rows[index + 1]?.pinned !== true}
                position={index + 1}
                size={total}
                style={{ height: HEIGHT, transform: `translateY(${start}px)` }}
                onFocus={() => setActive(id)}
                onMenu={(anchor) => setMenu((was) => (was?.row.thread.id === id ? null : { row, anchor }))}
                onRename={(title) => rename(row, title)}
              />
            );
          })}
        </ul>
      </div>
      {menu && (
        <Menu
          label={`Actions for ${nameOf(menu.row)}`}
          anchor={menu.anchor}
          onClose={() => setMenu(null)}
          items={[
            {
              label: menu.row.pinned ? "Unpin" : "Pin",
              icon: menu.row.pinned ? <PinOff size={14} /> : <Pin size={14} />,
              run: () => pin(menu.row),
            },
            {
              label: "Rename",
              icon: <Pencil size={14} />,
              count: "F2",
              run: () => setRenaming(menu.row.thread.id),
            },
            { label: "Copy link", icon: <Link size={14} />, run: () => copyLink(menu.row) },
            { label: "Duplicate", icon: <Copy size={14} />, run: () => duplicate(menu.row) },
            {
              label: "Delete",
              icon: <Trash2 size={14} />,
              count: "Del",
              bad: true,
              run: () => remove(menu.row),
            },
          ]}
        />
      )}
    </>
  );
}

/** Focuses a row as soon as it has rendered. */
function focusRow(scroller: HTMLElement | null, id: string, tries = 10): void {
  requestAnimationFrame(() => {
    const link = scroller?.querySelector<HTMLElement>(`[data-thread="${CSS.escape(id)}"]`);
    if (link) link.focus({ preventScroll: true });
    else if (tries > 0) focusRow(scroller, id, tries - 1);
  });
}

/** Keeps the visible rows in place when rows above are added or removed. */
function useScrollAnchor(
  scroller: { readonly current: HTMLElement | null },
  rows: readonly ThreadSummary[],
): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const element = scroller.current;
    const was = before.current;
    before.current = rows;
    if (!element || was === rows || element.scrollTop < HEIGHT / 2) return;
    const top = Math.floor(element.scrollTop / HEIGHT);
    const places = new Map(rows.map((row, index) => [row.thread.id, index]));
    for (let index = top; index < Math.min(was.length, top + 30); index++) {
      const place = places.get(was[index]?.thread.id ?? "");
      if (place === undefined) continue;
      // A row that moved far has changed itself: the offset of the list is that of another row.
      if (index !== place && Math.abs(index - place) > was.length / 2) continue;
      element.scrollTop += (place - index) * HEIGHT;
      return;
    }
  }, [scroller, rows]);
}
