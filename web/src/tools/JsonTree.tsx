import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { CopyButton } from "../ui/CopyButton";
import { copyWithToast } from "../ui/clipboard";
import { count, plural } from "../ui/format";
import { usePartial } from "../ui/reveal";
import { ShowAll } from "../ui/ShowAll";
import { visible } from "../ui/sanitize";
import styles from "./JsonTree.module.css";
import { stringify } from "./json";
import {
  isContainer,
  MAX_STRING,
  PAGE,
  type SoughtRow,
  seekRow,
  type TreeRow,
  type TreeState,
  treeRows,
} from "./tree";

const INITIAL_STATE: TreeState = { containers: new Map(), pages: new Map() };
const MAX_INDENT = 20;
const STRING_PAGE = 20_000;

/** A JSON value as a tree. The arrow keys move and expand, `c` copies the selected value. */
export function JsonTree({
  value,
  open = 2,
  label = "Value",
}: {
  value: unknown;
  open?: number;
  label?: string;
}) {
  const [state, setState] = useState(INITIAL_STATE);
  const [selected, setSelected] = useState(0);
  const [sought, setSought] = useState<SoughtRow | null>(null);
  const area = usePartial((wanted) => {
    const found = seekRow(value, state, wanted);
    if (typeof found === "number") return { type: "missing", total: found };
    const { row } = found;
    setState(found.state);
    if (!isSought(row, sought) || row.at !== sought?.at || row.end !== sought.end) setSought(row);
    return { type: "shown", marked: true };
  });
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => treeRows(value, open, state), [value, open, state]);
  const current = Math.min(selected, rows.length - 1);

  const choose = (at: number) => {
    const place = Math.max(0, Math.min(at, rows.length - 1));
    setSelected(place);
    (box.current?.children[place] as HTMLElement | undefined)?.focus();
  };
  const toggle = (row: TreeRow) => setState((before) => toggled(before, row));
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[current];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.target as HTMLElement).role !== "treeitem") return;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => choose(current + 1),
      ArrowUp: () => choose(current - 1),
      Home: () => choose(0),
      End: () => choose(rows.length - 1),
      ArrowRight: () => (row.kind === "container" && !row.isOpen ? toggle(row) : choose(current + 1)),
      ArrowLeft: () => (row.isOpen ? toggle(row) : choose(parentOf(rows, current))),
      Enter: () => toggle(row),
      " ": () => toggle(row),
      c: () => void copyWithToast(stringify(row.value, 2)),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <div className={styles.whole} {...area}>
      <ShowAll label={label} className={styles.box}>
        <div ref={box} className={styles.tree} role="tree" aria-label={label} onKeyDown={onKeyDown}>
          {rows.map((row, at) => (
            <Row
              key={at}
              row={row}
              isChosen={at === current}
              sought={isSought(row, sought) ? sought : null}
              onChoose={() => setSelected(at)}
              onToggle={() => toggle(row)}
            />
          ))}
        </div>
      </ShowAll>
    </div>
  );
}

type RowKey = Pick<TreeRow, "parent" | "name">;

const isSought = (row: RowKey & { readonly kind?: TreeRow["kind"] }, sought: SoughtRow | null): boolean =>
  sought !== null && row.kind !== "more" && row.parent === sought.parent && row.name === sought.name;

function toggled(before: TreeState, row: TreeRow): TreeState {
  if (row.kind === "more" && row.parent)
    return {
      ...before,
      pages: new Map(before.pages).set(row.parent, (before.pages.get(row.parent) ?? 1) + 1),
    };
  if (row.kind === "container" && isContainer(row.value))
    return { ...before, containers: new Map(before.containers).set(row.value, !row.isOpen) };
  return before;
}

function parentOf(rows: readonly TreeRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  return Math.max(
    0,
    rows.findLastIndex((row, place) => place < at && row.depth < depth),
  );
}

interface RowProps {
  readonly row: TreeRow;
  readonly isChosen: boolean;
  /** A word in it that is sought. */
  readonly sought: SoughtRow | null;
  readonly onChoose: () => void;
  readonly onToggle: () => void;
}

function Row({ row, isChosen, sought, onChoose, onToggle }: RowProps) {
  const canOpen = row.kind === "container" && row.count > 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      role="treeitem"
      className={styles.row}
      style={{ paddingInlineStart: `${Math.min(row.depth, MAX_INDENT) * 0.9}rem` }}
      data-sought={sought?.at}
      aria-level={row.depth + 1}
      aria-expanded={canOpen ? row.isOpen : undefined}
      aria-selected={isChosen}
      tabIndex={isChosen ? 0 : -1}
      onFocus={onChoose}
      onClick={() => {
        if (row.kind !== "leaf" && !document.getSelection()?.toString()) onToggle();
      }}
    >
      <span className={styles.sign} aria-hidden>
        {canOpen && <ChevronRight size={12} data-open={row.isOpen} />}
      </span>
      {row.depth > MAX_INDENT && <span className={styles.deep}>{row.depth}›</span>}
      {row.kind === "more" ? (
        <span className={styles.more}>
          Show {count(Math.min(PAGE, row.count))} of {count(row.count)} more
        </span>
      ) : (
        <>
          {row.name !== null && <span className={styles.name}>{visible(String(row.name))}:</span>}
          {row.kind === "container" ? (
            <Container row={row} />
          ) : (
            <Leaf value={row.value} least={sought?.end} />
          )}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: clicking the button must not toggle the row */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above */}
          <span className={styles.copy} onClick={(event) => event.stopPropagation()}>
            <CopyButton text={() => stringify(row.value, 2)} label={`Copy ${row.name ?? "all"}`} />
          </span>
        </>
      )}
    </div>
  );
}

function Container({ row }: { row: TreeRow }) {
  const [left, right] = Array.isArray(row.value) ? ["[", "]"] : ["{", "}"];
  if (row.count === 0) return <span className={styles.faint}>{left + right}</span>;
  const what = Array.isArray(row.value) ? plural(row.count, "item") : plural(row.count, "member");
  return (
    <span className={styles.faint}>
      {row.isOpen ? what : `${left} ${preview(row.value)} ${right}`}
      {!row.isOpen && <span className={styles.size}> {what}</span>}
    </span>
  );
}

/** A preview of a collapsed container, one level deep. */
function preview(value: unknown): string {
  const entries = Array.isArray(value)
    ? value.slice(0, 4).map((one) => short(one))
    : Object.entries(value as object)
        .slice(0, 4)
        .map(([name, one]) => `${name}: ${short(one)}`);
  const more = Array.isArray(value) ? value.length > 4 : Object.keys(value as object).length > 4;
  return visible(entries.join(", ").slice(0, 80)) + (more ? ", …" : "");
}

const short = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > 24 ? `${value.slice(0, 23)}…` : value);
  if (Array.isArray(value)) return "[…]";
  return typeof value === "object" && value ? "{…}" : String(value);
};

function Leaf({ value, least = 0 }: { value: unknown; least?: number }) {
  const [chosen, setLimit] = useState(MAX_STRING);
  const limit = chosen + STRING_PAGE * Math.max(0, Math.ceil((least - chosen) / STRING_PAGE));
  if (typeof value !== "string") return <span className={styles.literal}>{String(value)}</span>;
  const rest = value.length - limit;
  return (
    <span className={styles.string}>
      {value === "" ? '""' : visible(value.slice(0, limit))}
      {rest > 0 && (
        <button
          type="button"
          className={styles.expand}
          onClick={(event) => {
            event.stopPropagation();
            setLimit(limit + STRING_PAGE);
          }}
        >
          … {plural(rest, "more character")}
        </button>
      )}
    </span>
  );
}
