/** The columns that several tables have. */
import { count, duration, money } from "../ui/format";
import type { Column } from "./Table";

/** A column of numbers, with a dash for those that are unknown. */
export const numbers = <Row>(
  label: string,
  value: (row: Row) => number | undefined,
  format: (value: number) => string = count,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({
  label,
  value,
  text: (row) => {
    const known = value(row);
    return known === undefined || Number.isNaN(known) ? "–" : format(known);
  },
  number: true,
  ...more,
});

export const costs = <Row extends { readonly cost?: number }>(more: Partial<Column<Row>> = {}): Column<Row> =>
  numbers("Cost", (row) => row.cost, money, more);

/** 0 if nothing was measured. */
export const time = (seconds: number): string => (seconds ? duration(seconds) : "–");

/** 12%, 0.5% */
export const percent = (part: number): string =>
  part > 0 && part < 0.1 ? `${Number((part * 100).toFixed(1))}%` : `${Math.round(part * 100)}%`;

export const failureRate = <Row extends { readonly toolCalls: number; readonly toolErrors: number }>(
  more: Partial<Column<Row>> = {},
): Column<Row> =>
  numbers("Failed", (row) => (row.toolCalls ? row.toolErrors / row.toolCalls : undefined), percent, {
    about: "The part of the tool calls that failed",
    bar: "share",
    bad: true,
    ...more,
  });
