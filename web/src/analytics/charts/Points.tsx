import { type KeyboardEvent, useState } from "react";
import styles from "./Plot.module.css";
import type { Frame, Point } from "./plot";
import { Tip } from "./Tip";

interface Props {
  readonly name: string;
  readonly frame: Frame;
  readonly points: readonly (Point | null)[];
  /** The start and end of a column. */
  readonly bounds: (column: number) => readonly [number, number];
  readonly swatch?: (series: number) => string;
}

const MOVES: Record<string, (at: number, columns: readonly number[]) => number | undefined> = {
  ArrowRight: (at, columns) => columns[Math.min(at + 1, columns.length - 1)],
  ArrowLeft: (at, columns) => columns[Math.max(at - 1, 0)],
  Home: (_, columns) => columns[0],
  End: (_, columns) => columns.at(-1),
};

/** Links over the columns of a chart: one tab stop, then the arrow keys. Their labels contain the values. */
export function Points({ name, frame, points, bounds, swatch }: Props) {
  const columns = points.flatMap((point, column) => (point ? [column] : []));
  const [current, setCurrent] = useState<number | null>(null);
  const [open, setOpen] = useState<number | null>(null);
  const stop = current !== null && points[current] ? current : columns[0];
  const onKey = (event: KeyboardEvent<HTMLUListElement>) => {
    const next = MOVES[event.key]?.(columns.indexOf(stop ?? 0), columns);
    if (next === undefined) return;
    event.preventDefault();
    setCurrent(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-column="${next}"]`)?.focus();
  };
  const shown = open === null ? null : points[open];
  return (
    <>
      <ul className={styles.points} onKeyDown={onKey} aria-label={`${name}, point by point`}>
        {points.map((point, column) => {
          if (!point) return null;
          const [from, to] = bounds(column);
          const text = `${point.label}: ${point.lines.map((line) => `${line.name} ${line.text}`).join(", ")}`;
          const common = {
            className: styles.point,
            "data-column": column,
            "aria-label": text,
            onFocus: () => {
              setCurrent(column);
              setOpen(column);
            },
            onBlur: () => setOpen(null),
            onMouseEnter: () => setOpen(column),
            onMouseLeave: () => setOpen(null),
          };
          return (
            <li
              key={column}
              style={{ left: from, width: to - from, top: frame.top, height: frame.bottom - frame.top }}
            >
              {point.href ? (
                <a {...common} href={point.href} tabIndex={column === stop ? 0 : -1}>
                  <span />
                </a>
              ) : (
                <button {...common} type="button" tabIndex={column === stop ? 0 : -1} />
              )}
            </li>
          );
        })}
      </ul>
      {shown && open !== null && (
        <Tip
          label={shown.label}
          lines={shown.lines}
          from={bounds(open)[0]}
          to={bounds(open)[1]}
          width={frame.left + frame.right}
          swatch={swatch}
        />
      )}
    </>
  );
}
