import { ChartColumn, FileSpreadsheet, Image, Table2 } from "lucide-react";
import { type ReactElement, type ReactNode, useRef, useState } from "react";
import { IconButton } from "../../ui/Button";
import { downloadFile } from "../../ui/download";
import { toastError } from "../../ui/Toasts";
import { type Column, Table } from "../Table";
import { downloadCsv, fileName } from "./csv";
import styles from "./Figure.module.css";
import { Legend } from "./Legend";
import { composeImage, type Entry, toPng } from "./png";

interface Props<Row> {
  readonly id: string;
  readonly title: string;
  /** The level of its heading. */
  readonly level?: 2 | 3;
  /** A sentence that describes the chart. */
  readonly summary: string;
  /** The names of the series, or a legend of its own. */
  readonly legend: readonly Entry[] | ReactElement;
  /** Charts with a common legend do not show it, but it is part of their images. */
  readonly hideLegend?: boolean;
  readonly lines?: boolean;
  /** More controls in its head. */
  readonly controls?: ReactNode;
  readonly isLoading?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly children: ReactNode;
}

/** A chart with its caption, the same data as a table, and downloads of both. Its height does not depend on its data. */
export function Figure<Row>(props: Props<Row>) {
  const { id, title, summary, legend, columns, rows, keyOf, children } = props;
  const [asTable, setAsTable] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const Heading = props.level === 3 ? "h3" : "h2";
  const saveCsv = () => downloadCsv(title, columns, rows);
  const savePng = async () => {
    const svg = figure.current?.querySelector<SVGSVGElement>("svg[role=img]");
    if (!svg) return;
    downloadFile(
      fileName(title, "png"),
      await toPng(composeImage(svg, title, isEntries(legend) ? legend : [])),
    );
  };
  return (
    <figure
      ref={figure}
      className={styles.figure}
      aria-labelledby={`${id}-title`}
      aria-busy={props.isLoading || undefined}
    >
      <figcaption className={styles.head}>
        <Heading id={`${id}-title`}>{title}</Heading>
        <span className={styles.actions}>
          {props.controls}
          <IconButton label={`${title}: table`} pressed={asTable} onClick={() => setAsTable((was) => !was)}>
            {asTable ? <ChartColumn size={15} /> : <Table2 size={15} />}
          </IconButton>
          <IconButton label={`${title}: save as CSV`} onClick={saveCsv}>
            <FileSpreadsheet size={15} />
          </IconButton>
          <IconButton
            label={`${title}: save as PNG`}
            disabled={asTable}
            onClick={() => void savePng().catch(toastError)}
          >
            <Image size={15} />
          </IconButton>
        </span>
        <p className={styles.summary} title={summary.trim() || undefined}>
          {props.isLoading ? " " : summary}
        </p>
      </figcaption>
      {asTable ? (
        <Table name={title} columns={columns} rows={rows} keyOf={keyOf} tall />
      ) : (
        <>
          {children}
          {isEntries(legend)
            ? props.hideLegend || <Legend name={title} entries={legend} lines={props.lines} />
            : legend}
        </>
      )}
    </figure>
  );
}

const isEntries = (legend: Props<never>["legend"]): legend is readonly Entry[] => Array.isArray(legend);
