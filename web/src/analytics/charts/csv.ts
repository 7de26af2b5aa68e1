/** Tables as CSV (RFC 4180). */
import { downloadFile } from "../../ui/download";

type CsvCell = string | number | null | undefined;

export const csv = (head: readonly string[], rows: readonly (readonly CsvCell[])[]): string =>
  `${[head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

function cell(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  // A spreadsheet would execute an untrusted name that starts like a formula.
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A file name from a title: `Tokens over time` is `tokens-over-time.csv`. */
export const fileName = (title: string, extension: string): string =>
  `${
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 80) || "chart"
  }.${extension}`;

/** Downloads a table as CSV. */
export function downloadCsv<Row>(
  title: string,
  columns: readonly { readonly label: string; readonly value: (row: Row) => CsvCell }[],
  rows: readonly Row[],
): void {
  const text = csv(
    columns.map(({ label }) => label),
    rows.map((row) => columns.map((column) => column.value(row))),
  );
  downloadFile(fileName(title, "csv"), new Blob([text], { type: "text/csv;charset=utf-8" }));
}
