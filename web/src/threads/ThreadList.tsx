import { type KeyboardEvent, type MouseEvent, useCallback, useEffect, useRef, useState } from "react";
import type { ThreadSummary } from "../api/threads";
import { useCommands } from "../ui/commands";
import { lazyComponent } from "../ui/lazyModule";
import { Menu } from "../ui/Menu";
import { useNow } from "../ui/useNow";
import { nameOf } from "./rows";
import type { Sort } from "./sorts";
import styles from "./ThreadList.module.css";
import { ThreadRow } from "./ThreadRow";
import { type ListActions, rowMenu, useRowActions } from "./useRowActions";
import { useSelection } from "./useSelection";
import { useSteps } from "./useSteps";
import { useVirtualRows } from "./useVirtualRows";

const SelectionBar = lazyComponent(() => import("./SelectionBar").then((it) => it.SelectionBar));
const TagsDialog = lazyComponent(() => import("./TagsDialog").then((it) => it.TagsDialog));
const NoteDialog = lazyComponent(() => import("./NoteDialog").then((it) => it.NoteDialog));

interface Props extends ListActions {
  readonly rows: readonly ThreadSummary[];
  /** Identifies the filters and the order of the rows. */
  readonly rowsKey: string;
  readonly sort: Sort | undefined;
  readonly current?: string;
  /** The number of threads; -1 if unknown. */
  readonly total: number;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly headingLevel: 2 | 3;
}

/** Rows before the end at which the next page is loaded. */
const LOAD_AHEAD = 20;
/** The number of rows that a page key moves by. */
const PAGE = 8;

/** A virtual list of sessions in groups. One row is reached by the Tab key, the others by the arrow keys. */
export function ThreadList(props: Props) {
  const { rows, rowsKey, sort, current, total, hasMore, onMore } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [menu, setMenu] = useState<{ readonly id: string; readonly anchor: HTMLElement } | null>(null);
  const [tagged, setTagged] = useState<readonly ThreadSummary[] | null>(null);
  const [noted, setNoted] = useState<ThreadSummary | null>(null);
  const [isInside, setInside] = useState(false);
  const now = useNow();
  const focused = isInside ? active : null;
  const list = useVirtualRows({ scroller, rows, rowsKey, sort, now, focused, current });
  const { virtual, items, entries, indexes, sizes, sticky } = list;
  const selection = useSelection(rows);
  const actions = useRowActions(props, current);

  const end = entries[items.at(-1)?.index ?? 0];
  const last = end?.kind === "row" ? end.position : 0;
  useEffect(() => {
    if (hasMore && rows.length && last >= rows.length - LOAD_AHEAD) onMore();
  }, [hasMore, last, rows.length, onMore]);

  const focus = useCallback(
    (id: string | undefined) => {
      const index = id === undefined ? undefined : indexes.get(id);
      if (id === undefined || index === undefined) return;
      setActive(id);
      virtual.scrollToIndex(index);
      focusRow(scroller.current, id);
    },
    [indexes, virtual],
  );
  const at = rows.findIndex((row) => row.thread.id === (active ?? current));
  const step = (by: number) =>
    focus(rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))]?.thread.id);
  const byId = (id: string | null | undefined) => rows.find((row) => row.thread.id === id);
  const chosen = byId(active);

  const rename = (row: ThreadSummary, title: string | null) => {
    setRenaming(null);
    focusRow(scroller.current, row.thread.id);
    if (title !== null && title !== (row.thread.title ?? row.title ?? "")) actions.rename(row, title);
  };
  const remove = (removed: readonly ThreadSummary[]) => {
    const isRemoved = (row: ThreadSummary) => removed.includes(row);
    const first = rows.findIndex(isRemoved);
    const next =
      rows.slice(first).find((row) => !isRemoved(row)) ??
      rows.slice(0, first).findLast((row) => !isRemoved(row));
    focus(next?.thread.id);
    selection.clear();
    actions.remove(removed);
  };
  /** The selected rows if this is one of them, else only this one. */
  const withSelected = (row: ThreadSummary) => (selection.has(row.thread.id) ? selection.rows : [row]);

  useSteps({ ids: rows.map((row) => row.thread.id), current, focus, step, scroller });
  useCommands(
    [
      {
        what: "Pin or unpin the session",
        group: "Sessions",
        run: () => chosen && actions.pin(withSelected(chosen)),
      },
      {
        keys: "F2",
        what: "Rename the session",
        group: "Sessions",
        run: () => chosen && setRenaming(chosen.thread.id),
      },
      {
        keys: "Delete",
        what: "Delete the session",
        group: "Sessions",
        run: () => chosen && remove(withSelected(chosen)),
      },
    ],
    isInside,
  );
  const onClick = (event: MouseEvent, id: string) => {
    if (event.shiftKey) selection.extend(id, active ?? current);
    else if (event.ctrlKey || event.metaKey) selection.toggle(id);
    else return;
    event.preventDefault();
    focus(id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const id = target.closest<HTMLElement>("[data-thread]")?.dataset.thread;
    const by = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: PAGE,
      PageUp: -PAGE,
      Home: -rows.length,
      End: rows.length,
    }[event.key];
    if ((event.ctrlKey || event.metaKey) && event.key === "a") selection.all();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "Escape" && selection.rows.length) selection.clear();
    else if (id === undefined) return;
    else if (by !== undefined) {
      const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
      if (event.shiftKey && to) selection.extend(to.thread.id, id);
      step(by);
    } else if (event.key === " ") selection.toggle(id);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))
      setMenu({ id, anchor: target });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const shown = items.map(({ index }) => entries[index]);
  const isShown = (id: string | null | undefined) =>
    shown.some((one) => one?.kind === "row" && one.key === id);
  const tabStop = [active, current].find(isShown) ?? shown.find((one) => one?.kind === "row")?.key;
  const opened = byId(menu?.id);
  const Heading = props.headingLevel === 2 ? "h2" : "h3";
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the list are active while it has the focus */}
      <div
        ref={scroller}
        className={styles.scroller}
        onFocus={() => setInside(true)}
        onBlur={(event) => setInside(event.currentTarget.contains(event.relatedTarget))}
        onKeyDown={onKeyDown}
      >
        <ul className={styles.list} aria-label="Sessions" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const entry = entries[index];
            if (!entry) return null;
            const place = { height: entry.size, transform: `translateY(${start}px)` };
            if (entry.kind === "heading") {
              const isSticky = index === sticky;
              return (
                <li
                  key={entry.key}
                  className={styles.heading}
                  data-sticky={isSticky || undefined}
                  style={isSticky ? { height: entry.size } : place}
                >
                  <Heading>{entry.label}</Heading>
                </li>
              );
            }
            const { row, position } = entry;
            const { id } = row.thread;
            return (
              <ThreadRow
                key={id}
                row={row}
                now={now}
                lines={sizes.lines(row)}
                isCurrent={id === current}
                isRenaming={id === renaming}
                isSelected={selection.has(id)}
                isSelecting={selection.rows.length > 0}
                isTabStop={id === tabStop}
                position={position + 1}
                size={total}
                style={place}
                onClick={(event) => onClick(event, id)}
                onSelect={(isRange) => (isRange ? selection.extend(id, current) : selection.toggle(id))}
                onFocus={() => setActive(id)}
                onMenu={(anchor) => setMenu((was) => (was?.id === id ? null : { id, anchor }))}
                onRename={(title) => rename(row, title)}
              />
            );
          })}
        </ul>
      </div>
      {selection.rows.length > 0 && (
        <SelectionBar
          rows={selection.rows}
          onTag={() => setTagged(selection.rows)}
          onPin={() => actions.pin(selection.rows)}
          onDelete={() => remove(selection.rows)}
          onClear={() => {
            focus(tabStop);
            selection.clear();
          }}
        />
      )}
      {menu && opened && (
        <Menu
          label={`Actions for ${nameOf(opened)}`}
          anchor={menu.anchor}
          onClose={() => setMenu(null)}
          items={rowMenu(opened, actions, {
            onRename: () => setRenaming(menu.id),
            onTag: () => setTagged([opened]),
            onNote: () => setNoted(opened),
            onSelect: () => selection.toggle(menu.id),
            onRemove: () => remove([opened]),
          })}
        />
      )}
      {tagged && (
        <TagsDialog
          sessions={tagged.map(({ thread, tags = [] }) => ({ id: thread.id, tags }))}
          onClose={() => setTagged(null)}
          onChange={(changed) => {
            const tags = new Map(changed.map((one) => [one.id, one.tags]));
            props.onChange(new Set(tags.keys()), (was) => ({ ...was, tags: tags.get(was.thread.id) }));
          }}
        />
      )}
      {noted && (
        <NoteDialog
          id={noted.thread.id}
          note={noted.note}
          onClose={() => setNoted(null)}
          onChange={(note) => props.onChange(new Set([noted.thread.id]), (was) => ({ ...was, note }))}
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
