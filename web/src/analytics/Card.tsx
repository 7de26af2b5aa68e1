import { FileSpreadsheet } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../ui/Button";
import styles from "./Card.module.css";
import { downloadCsv } from "./charts/csv";
import { type Column, Table } from "./Table";

interface Props<Row> {
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
  readonly children?: ReactNode;
}

/** A sortable table with a heading and a download button. */
export function Card<Row>({ title, columns, rows, keyOf, empty, children }: Props<Row>) {
  const save = () => downloadCsv(title, columns, rows);
  return (
    <section className={styles.card} aria-label={title}>
      <div className={styles.head}>
        <h2>{title}</h2>
        {children}
        <IconButton label={`${title}: save as CSV`} onClick={save} disabled={rows.length === 0}>
          <FileSpreadsheet size={15} />
        </IconButton>
      </div>
      {rows.length ? (
        <Table name={`${title}, table`} columns={columns} rows={rows} keyOf={keyOf} sortable />
      ) : (
        <p className={styles.empty}>{empty}</p>
      )}
    </section>
  );
}
