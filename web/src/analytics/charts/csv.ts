/** Tables as CSV (RFC 4180): exact numbers, texts quoted where they must be. */

export type CsvCell = string | number | null | undefined;

export const csv = (head: readonly string[], rows: readonly (readonly CsvCell[])[]): string =>
  `${[head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

function cell(value: CsvCell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  // A text that begins like a formula would be run by a spreadsheet; names come from anywhere.
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
