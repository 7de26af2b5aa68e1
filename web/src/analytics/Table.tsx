import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { Swatch } from "./charts/Legend";
import styles from "./Table.module.css";

export interface Column<Row> {
  readonly label: string;
  /** What the values mean, as a tooltip of the head. */
  readonly about?: string;
  /** The value for sorting and export. */
  readonly value: (row: Row) => number | string | null | undefined;
  /** The displayed text; by default the value. */
  readonly text?: (row: Row) => string;
  /** What is before the text. */
  readonly mark?: (row: Row) => ReactNode;
  /** The number of the colour of the row in charts. */
  readonly colour?: (row: Row) => number;
  readonly href?: (row: Row) => string | undefined;
  /** The tooltip of the link. */
  readonly title?: (row: Row) => string | undefined;
  readonly number?: boolean;
  /** Show a bar: the share of the largest value, or the value itself, from 0 to 1. */
  readonly bar?: boolean | "share";
  /** The bar is of what went wrong. */
  readonly bad?: boolean;
  /** Left out where there is little space. */
  readonly wide?: boolean;
}

interface Props<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sortable?: boolean;
  /** Scroll inside the table if it is long. */
  readonly tall?: boolean;
  /** The number of rows that are shown at first. */
  readonly limit?: number;
}

interface Sorting {
  readonly column: number;
  readonly down: boolean;
}

/** A table whose cells can be links. */
export function Table<Row>(props: Props<Row>) {
  const {
    name,
    columns,
    rows,
    keyOf,
    sortable = false,
    tall = false,
    limit = Number.POSITIVE_INFINITY,
  } = props;
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [isOpen, setOpen] = useState(false);
  const sorted = useMemo(() => sort(rows, columns, sorting), [rows, columns, sorting]);
  const shown = isOpen ? sorted : sorted.slice(0, limit);
  const largest = useMemo(
    () =>
      columns.map(({ bar, value }) =>
        bar === "share" ? 1 : bar ? Math.max(0, ...rows.map((row) => Number(value(row) ?? 0))) : 0,
      ),
    [rows, columns],
  );
  const choose = (column: number) =>
    setSorting((was) => ({
      column,
      down: was?.column === column ? !was.down : columns[column]?.number === true,
    }));
  return (
    <>
      <section className={tall ? `${styles.frame} ${styles.tall}` : styles.frame} aria-label={name}>
        <table className={styles.table}>
          <thead>
            <tr>
              {columns.map(({ label, about, number, wide }, index) => {
                const mine = sorting?.column === index ? sorting : null;
                return (
                  <th
                    key={label}
                    scope="col"
                    title={about}
                    data-wide={wide}
                    className={number ? styles.number : undefined}
                    aria-sort={mine ? (mine.down ? "descending" : "ascending") : undefined}
                  >
                    {sortable ? (
                      <button type="button" onClick={() => choose(index)}>
                        {label}
                        {mine &&
                          (mine.down ? (
                            <ArrowDown size={11} aria-hidden />
                          ) : (
                            <ArrowUp size={11} aria-hidden />
                          ))}
                      </button>
                    ) : (
                      label
                    )}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((column, index) => (
                  <Cell
                    key={column.label}
                    row={row}
                    column={column}
                    head={index === 0}
                    maximum={largest[index] ?? 0}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > limit && (
        <Button
          kind="quiet"
          small
          className={styles.more}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Show less" : `Show all ${count(rows.length)}`}
        </Button>
      )}
    </>
  );
}

interface CellProps<Row> {
  readonly row: Row;
  readonly column: Column<Row>;
  readonly head: boolean;
  readonly maximum: number;
}

function Cell<Row>({ row, column, head, maximum }: CellProps<Row>) {
  const value = column.value(row);
  const text = column.text ? column.text(row) : String(value ?? "");
  const link = column.href?.(row);
  const part = maximum > 0 ? Number(value ?? 0) / maximum : 0;
  const content = (
    <>
      {column.mark?.(row)}
      {column.colour && <Swatch colour={column.colour(row)} />}
      {column.bar && (
        <span className={styles.bar} data-bad={column.bad} aria-hidden>
          <span style={{ width: `${part * 100}%` }} />
        </span>
      )}
      {link ? (
        <a href={link} title={column.title?.(row) ?? (head ? text : undefined)}>
          {text}
        </a>
      ) : (
        <span className={styles.text} title={head ? text : undefined}>
          {text}
        </span>
      )}
    </>
  );
  return head ? (
    <th scope="row" className={styles.name}>
      <div>{content}</div>
    </th>
  ) : (
    <td className={column.number ? styles.number : undefined} data-wide={column.wide} data-bar={!!column.bar}>
      <div>{content}</div>
    </td>
  );
}

/** Sorts rows. Unknown values come last in both directions. */
export function sort<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): Row[] {
  const column = sorting && columns[sorting.column];
  if (!column) return [...rows];
  const sign = sorting.down ? -1 : 1;
  return [...rows].sort((first, second) => {
    const [a, b] = [column.value(first), column.value(second)];
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return a < b ? -sign : sign;
  });
}
