import { useVirtualizer } from "@tanstack/react-virtual";
import { Copy, Link, Pencil, Pin, PinOff, Trash2 } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { copyThread, pinThread, renameThread, type ThreadSummary } from "../api/threads";
import { useHotkeys } from "../ui/hotkeys";
import { go, href, toThread } from "../ui/routing";
import { toast, toastError } from "../ui/Toasts";
import { removeLater } from "./deletions";
import { Menu } from "./Menu";
import { nameOf } from "./rows";
import styles from "./ThreadList.module.css";
import { ThreadRow } from "./ThreadRow";

interface Props {
  readonly rows: readonly ThreadSummary[];
  readonly current?: string;
  /** How many there are in all; -1 where that is not known. */
  readonly total: number;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly onChange: (ids: ReadonlySet<string>, how: (row: ThreadSummary) => ThreadSummary) => void;
  readonly onRefresh: (ids: readonly string[]) => Promise<void>;
}

const HEIGHT = 56;
const AHEAD = 20;

/** The threads, drawn as far as they are seen. What changes above does not move what one looks at. */
export function ThreadList({ rows, current, total, hasMore, onMore, onChange, onRefresh }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [menu, setMenu] = useState<{ readonly row: ThreadSummary; readonly at: HTMLElement } | null>(null);
  const [isInside, setInside] = useState(false);
  const now = useNow();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
    getItemKey: useCallback((index: number) => rows[index]?.thread.id ?? index, [rows]),
  });
  useStillness(scroller, rows);

  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - AHEAD) onMore();
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
  const walk = (by: number) => {
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
    removeLater(row.thread.id, nameOf(row));
    if (row.thread.id === current) go(href([]));
  };
  const copyLink = (row: ThreadSummary) => {
    const address = new URL(toThread(row.thread.id), location.href).href;
    navigator.clipboard.writeText(address).then(() => toast("The link is copied."), toastError);
  };
  const duplicate = (row: ThreadSummary) => {
    copyThread(row.thread.id)
      .then((copy) => {
        go(toThread(copy.id));
        return onRefresh([copy.id]);
      })
      .catch(toastError);
  };

  useHotkeys([
    { keys: "j", what: "Next session", run: () => walk(1) },
    { keys: "k", what: "Session before", run: () => walk(-1) },
  ]);
  useHotkeys(
    [
      { keys: "p", what: "Pin the session, or not", run: () => chosen && pin(chosen) },
      { keys: "r", what: "Rename the session", run: () => chosen && setRenaming(chosen.thread.id) },
      { keys: "x", what: "Delete the session", run: () => chosen && remove(chosen) },
      { keys: "Delete", what: "Delete the session", run: () => chosen && remove(chosen) },
    ],
    isInside,
  );
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of the list work while the focus is in it */}
      <div
        ref={scroller}
        className={styles.scroller}
        onFocus={() => setInside(true)}
        onBlur={(event) => setInside(event.currentTarget.contains(event.relatedTarget))}
      >
        <ul className={styles.list} aria-label="Sessions" style={{ height: virtual.getTotalSize() }}>
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
                onMenu={(at) => setMenu((was) => (was?.row.thread.id === id ? null : { row, at }))}
                onRename={(title) => rename(row, title)}
              />
            );
          })}
        </ul>
      </div>
      {menu && (
        <Menu
          label={`More about ${nameOf(menu.row)}`}
          at={menu.at}
          onClose={() => setMenu(null)}
          choices={[
            {
              label: menu.row.pinned ? "Unpin" : "Pin",
              icon: menu.row.pinned ? <PinOff size={14} /> : <Pin size={14} />,
              count: "p",
              run: () => pin(menu.row),
            },
            {
              label: "Rename",
              icon: <Pencil size={14} />,
              count: "r",
              run: () => setRenaming(menu.row.thread.id),
            },
            { label: "Copy link", icon: <Link size={14} />, run: () => copyLink(menu.row) },
            { label: "Duplicate", icon: <Copy size={14} />, run: () => duplicate(menu.row) },
            {
              label: "Delete",
              icon: <Trash2 size={14} />,
              count: "x",
              bad: true,
              run: () => remove(menu.row),
            },
          ]}
        />
      )}
    </>
  );
}

/** The focus on a row, as soon as it is drawn. */
function focusRow(scroller: HTMLElement | null, id: string, tries = 10): void {
  requestAnimationFrame(() => {
    const link = scroller?.querySelector<HTMLElement>(`[data-thread="${CSS.escape(id)}"]`);
    if (link) link.focus({ preventScroll: true });
    else if (tries > 0) focusRow(scroller, id, tries - 1);
  });
}

/** Where rows come or go above, the ones that are looked at stay where they are. */
function useStillness(
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
      // One that jumped far was changed itself: another one says how the rest moved.
      if (index !== place && Math.abs(index - place) > was.length / 2) continue;
      element.scrollTop += (place - index) * HEIGHT;
      return;
    }
  }, [scroller, rows]);
}

/** What time it is, every half a minute. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
