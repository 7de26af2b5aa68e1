import { ChartColumn, FileSpreadsheet, Image, Table2 } from "lucide-react";
import { type ReactElement, type ReactNode, useRef, useState } from "react";
import { IconButton } from "../../ui/Button";
import { downloadFile } from "../../ui/download";
import { toastError } from "../../ui/Toasts";
import { type Column, Table } from "../Table";
import { downloadCsv, fileName } from "./csv";
import styles from "./Figure.module.css";
import { dashOf } from "./Lines";
import { colourOf, fillOf } from "./Patterns";
import { composeImage, toPng } from "./png";

interface Props<Row> {
  readonly id: string;
  readonly title: string;
  /** A sentence that describes the chart. */
  readonly summary: string;
  /** The names of the series, or a legend of its own. */
  readonly legend: readonly string[] | ReactElement;
  readonly lines?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly children: ReactNode;
}

/** A chart with its caption, the same data as a table, and downloads of both. */
export function Figure<Row>({
  id,
  title,
  summary,
  legend,
  lines,
  columns,
  rows,
  keyOf,
  children,
}: Props<Row>) {
  const [asTable, setAsTable] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const names = isNames(legend) ? legend : [];
  const saveCsv = () => downloadCsv(title, columns, rows);
  const savePng = async () => {
    const svg = figure.current?.querySelector<SVGSVGElement>("svg[role=img]");
    if (!svg) return;
    const swatches = figure.current?.querySelectorAll<SVGElement>("svg[data-swatch]") ?? [];
    const entries = names.map((name, index) => ({ name, swatch: swatches[index] ?? null }));
    downloadFile(fileName(title, "png"), await toPng(composeImage(svg, title, entries)));
  };
  return (
    <figure ref={figure} className={styles.figure} aria-labelledby={`${id}-title`}>
      <figcaption className={styles.head}>
        <h2 id={`${id}-title`}>{title}</h2>
        <span className={styles.actions}>
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
        <p className={styles.summary}>{summary}</p>
      </figcaption>
      {asTable ? (
        <Table name={title} columns={columns} rows={rows} keyOf={keyOf} tall />
      ) : (
        <>
          {children}
          {isNames(legend) ? <Legend id={id} title={title} names={legend} lines={lines} /> : legend}
        </>
      )}
    </figure>
  );
}

const isNames = (legend: Props<never>["legend"]): legend is readonly string[] => Array.isArray(legend);

interface LegendProps {
  readonly id: string;
  readonly title: string;
  readonly names: readonly string[];
  readonly lines?: boolean;
}

function Legend({ id, title, names, lines }: LegendProps) {
  return (
    <ul className={styles.legend} aria-label={`Legend of ${title}`}>
      {names.map((name, index) => (
        <li key={name}>
          <svg width={lines ? 22 : 12} height={12} data-swatch aria-hidden>
            {lines ? (
              <line
                x1={0}
                x2={22}
                y1={6}
                y2={6}
                stroke={colourOf(index)}
                strokeWidth={2}
                strokeDasharray={dashOf(index)}
              />
            ) : (
              <rect width={12} height={12} rx={2} fill={fillOf(id, index)} />
            )}
          </svg>
          <span>{name}</span>
        </li>
      ))}
    </ul>
  );
}
