import { ArrowDown, ArrowUp } from "lucide-react";
import { useMemo, useState } from "react";
import styles from "./Table.module.css";

export interface Column<Row> {
  readonly label: string;
  /** The value for sorting and export. */
  readonly value: (row: Row) => number | string | null | undefined;
  /** The displayed text; by default the value. */
  readonly text?: (row: Row) => string;
  readonly href?: (row: Row) => string | undefined;
  /** The tooltip of the link. */
  readonly title?: (row: Row) => string | undefined;
  readonly number?: boolean;
  /** Show a bar for the share of the largest value. */
  readonly bar?: boolean;
}

interface Props<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sortable?: boolean;
  /** Scroll inside the table if it is long. */
  readonly tall?: boolean;
}

interface Sorting {
  readonly column: number;
  readonly down: boolean;
}

/** A table whose cells can be links. */
export function Table<Row>({ name, columns, rows, keyOf, sortable = false, tall = false }: Props<Row>) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const sorted = useMemo(() => sort(rows, columns, sorting), [rows, columns, sorting]);
  const largest = useMemo(
    () =>
      columns.map(({ bar, value }) => (bar ? Math.max(0, ...rows.map((row) => Number(value(row) ?? 0))) : 0)),
    [rows, columns],
  );
  const choose = (column: number) =>
    setSorting((was) => ({
      column,
      down: was?.column === column ? !was.down : columns[column]?.number === true,
    }));
  return (
    <section className={tall ? `${styles.frame} ${styles.tall}` : styles.frame} aria-label={name}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ label, number }, index) => {
              const mine = sorting?.column === index ? sorting : null;
              return (
                <th
                  key={label}
                  scope="col"
                  className={number ? styles.number : undefined}
                  aria-sort={mine ? (mine.down ? "descending" : "ascending") : undefined}
                >
                  {sortable ? (
                    <button type="button" onClick={() => choose(index)}>
                      {label}
                      {mine &&
                        (mine.down ? <ArrowDown size={11} aria-hidden /> : <ArrowUp size={11} aria-hidden />)}
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
          {sorted.map((row) => (
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
  );
}

function Cell<Row>({
  row,
  column,
  head,
  maximum,
}: {
  row: Row;
  column: Column<Row>;
  head: boolean;
  maximum: number;
}) {
  const value = column.value(row);
  const text = column.text ? column.text(row) : String(value ?? "");
  const link = column.href?.(row);
  const content = (
    <>
      {link ? (
        <a href={link} title={column.title?.(row)}>
          {text}
        </a>
      ) : (
        <span title={head ? text : undefined}>{text}</span>
      )}
      {column.bar && (
        <span className={styles.bar} aria-hidden>
          <span style={{ width: `${maximum > 0 ? (Number(value ?? 0) / maximum) * 100 : 0}%` }} />
        </span>
      )}
    </>
  );
  return head ? (
    <th scope="row" className={styles.name}>
      {content}
    </th>
  ) : (
    <td className={column.number ? styles.number : undefined}>{content}</td>
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
