import { FileSpreadsheet } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../ui/Button";
import { Failure } from "../ui/States";
import styles from "./Card.module.css";
import { downloadCsv } from "./charts/csv";
import { type Column, Table } from "./Table";

interface Props<Row> {
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are loading. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
  readonly error?: unknown;
  readonly retry?: () => void;
  readonly children?: ReactNode;
}

/** The number of rows that a table shows at first. */
export const ROWS = 10;

/** A sortable table with a heading and a download button. While its rows are loading, it has their height. */
export function Card<Row>({ title, columns, rows, keyOf, empty, error, retry, children }: Props<Row>) {
  const save = () => downloadCsv(title, columns, rows ?? []);
  return (
    <section className={styles.card} aria-label={title} aria-busy={!rows && !error}>
      <div className={styles.head}>
        <h3>{title}</h3>
        {children}
        <IconButton label={`${title}: save as CSV`} onClick={save} disabled={!rows?.length}>
          <FileSpreadsheet size={15} />
        </IconButton>
      </div>
      {error ? (
        <Failure error={error} retry={retry} />
      ) : !rows ? (
        <div className={styles.rows} style={{ "--rows": ROWS + 1 } as object} />
      ) : rows.length ? (
        <Table name={`${title}, table`} columns={columns} rows={rows} keyOf={keyOf} limit={ROWS} sortable />
      ) : (
        <p className={styles.empty}>{empty}</p>
      )}
    </section>
  );
}
