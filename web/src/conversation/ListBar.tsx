import { ArrowDownToLine, ListFilter, X } from "lucide-react";
import { useMemo, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { ButtonGroup } from "../ui/ButtonGroup";
import { count } from "../ui/format";
import { type Detail, usePreference } from "../ui/preferences";
import { countsOf, FILTERS, type Filter, type FilterKind, matches } from "./filter";
import styles from "./ListBar.module.css";
import type { Row } from "./rows";

export const DETAILS: readonly { readonly value: Detail; readonly label: string }[] = [
  { value: "focused", label: "Focused" },
  { value: "normal", label: "Normal" },
  { value: "everything", label: "Everything" },
];

interface Props {
  readonly rows: readonly Row[];
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
}

interface BarProps extends Props {
  readonly onEnd: () => void;
}

/** How much of a session is displayed: the level of detail, and a filter by kind. */
export function ListBar({ rows, filter, onFilter, onEnd }: BarProps) {
  const [detail, setDetail] = usePreference("detail");
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || filter.size > 0;
  return (
    <div className={styles.bar}>
      <ButtonGroup label="Level of detail" value={detail} choices={DETAILS} onChange={setDetail} />
      <IconButton
        label="Filter messages"
        pressed={isShown}
        aria-expanded={isShown}
        onClick={() => {
          setOpen(!isShown);
          if (isShown) onFilter(new Set());
        }}
      >
        <ListFilter size={16} aria-hidden />
      </IconButton>
      <IconButton label="Scroll to the end" className={styles.end} onClick={onEnd}>
        <ArrowDownToLine size={16} aria-hidden />
      </IconButton>
      {isShown && <Kinds rows={rows} filter={filter} onFilter={onFilter} />}
    </div>
  );
}

function Kinds({ rows, filter, onFilter }: Props) {
  const counts = useMemo(() => totalsOf(rows), [rows]);
  const shown = useMemo(() => rows.filter((row) => matches(row, filter)).length, [rows, filter]);
  const toggle = (kind: FilterKind) => {
    const next = new Set(filter);
    if (!next.delete(kind)) next.add(kind);
    onFilter(next);
  };
  return (
    <fieldset className={styles.kinds}>
      <legend className="visually-hidden">Show only</legend>
      {FILTERS.map(({ kind, label }) => {
        const value = counts[kind] ?? 0;
        if (!value && !filter.has(kind)) return null;
        return (
          <button
            key={kind}
            type="button"
            className={styles.kind}
            aria-pressed={filter.has(kind)}
            onClick={() => toggle(kind)}
          >
            {label} <span className={styles.count}>{count(value)}</span>
          </button>
        );
      })}
      {filter.size > 0 && (
        <span className={styles.state} role="status">
          Filtered: {count(shown)} of {count(rows.length)}
          <Button small kind="quiet" icon={<X size={13} aria-hidden />} onClick={() => onFilter(new Set())}>
            Clear
          </Button>
        </span>
      )}
    </fieldset>
  );
}

function totalsOf(rows: readonly Row[]): Partial<Record<FilterKind, number>> {
  const sum: Partial<Record<FilterKind, number>> = {};
  for (const row of rows)
    for (const [kind, value] of Object.entries(countsOf(row)) as [FilterKind, number][])
      sum[kind] = (sum[kind] ?? 0) + value;
  return sum;
}
