import { type KeyboardEvent, type SyntheticEvent, useState } from "react";
import styles from "./Cells.module.css";
import { LEVELS, levelOf, levelsOf } from "./levels";
import { Tip } from "./Tip";

export interface Cell {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly href?: string;
}

interface Props {
  readonly name: string;
  readonly summary: string;
  /** The cells by row and column; null leaves a place free. */
  readonly rows: readonly (readonly (Cell | null)[])[];
  readonly rowLabels: readonly string[];
  readonly columnLabels: readonly string[];
  readonly width: number;
  /** The width and height of a cell with its gap. */
  readonly pitch: readonly [number, number];
}

/** The space for the labels of the rows and of the columns. */
export const LEFT = 30;
const TOP = 18;
const GAP = 3;
const LEVEL_STYLES = [styles.level0, styles.level1, styles.level2, styles.level3, styles.level4];

type At = readonly [row: number, column: number];

const MOVES: Record<string, At> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Cells whose colour is the level of their value: one tab stop, then the arrow keys. Cells with a value are links. */
export function Cells({ name, summary, rows, rowLabels, columnLabels, width, pitch }: Props) {
  const [current, setCurrent] = useState<At | null>(null);
  const [open, setOpen] = useState<At | null>(null);
  const [across, down] = pitch;
  const limits = levelsOf(rows.flatMap((row) => row.map((cell) => cell?.value ?? 0)));
  const cellAt = ([row, column]: At) => rows[row]?.[column] ?? null;
  const stop = current && cellAt(current) ? current : lastUsed(rows);
  const place = ([row, column]: At) => ({
    left: LEFT + column * across,
    top: TOP + row * down,
    width: across - GAP,
    height: down - GAP,
  });
  const onKey = (event: KeyboardEvent<HTMLUListElement>) => {
    const next = stop && moved(event.key, stop, rows);
    if (!next) return;
    event.preventDefault();
    event.currentTarget.querySelector<HTMLElement>(`[data-at="${next.join(" ")}"]`)?.focus();
  };
  const show = (event: SyntheticEvent<HTMLUListElement>, focused: boolean) => {
    const at = (event.target as HTMLElement).closest<HTMLElement>("[data-at]")?.dataset.at;
    const [row = 0, column = 0] = at?.split(" ").map(Number) ?? [];
    setOpen(at === undefined ? null : [row, column]);
    if (focused && at !== undefined) setCurrent([row, column]);
  };
  const shown = open && cellAt(open);
  const box = open && place(open);
  return (
    <>
      <svg width={width} height={TOP + rows.length * down} role="img" aria-label={summary}>
        {columnLabels.map((label, column) =>
          label ? (
            <text key={column} className={styles.label} x={LEFT + column * across} y={11}>
              {label}
            </text>
          ) : null,
        )}
        {rowLabels.map((label, row) =>
          label ? (
            <text key={label} className={styles.label} x={0} y={TOP + row * down + (down - GAP) / 2 + 4}>
              {label}
            </text>
          ) : null,
        )}
        {rows.map((row, index) =>
          row.map((cell, column) => {
            if (!cell) return null;
            const { left, top, ...size } = place([index, column]);
            const level = LEVEL_STYLES[levelOf(limits, cell.value)];
            return <rect key={`${index} ${column}`} x={left} y={top} {...size} rx={2.5} className={level} />;
          }),
        )}
      </svg>
      <ul
        className={styles.grid}
        aria-label={`${name}, cell by cell`}
        onKeyDown={onKey}
        onFocus={(event) => show(event, true)}
        onBlur={() => setOpen(null)}
        onMouseOver={(event) => show(event, false)}
        onMouseLeave={() => setOpen(null)}
      >
        {inOrder(rows).map((at) => {
          const cell = cellAt(at);
          const common = {
            className: styles.cell,
            "data-at": at.join(" "),
            "aria-label": `${cell?.label}: ${cell?.text}`,
            tabIndex: stop && String(stop) === String(at) ? 0 : -1,
          };
          return (
            <li key={String(at)} style={place(at)}>
              {cell?.href ? (
                <a {...common} href={cell.href}>
                  <span />
                </a>
              ) : (
                <button {...common} type="button" />
              )}
            </li>
          );
        })}
      </ul>
      {shown && box && (
        <Tip
          label={shown.label}
          lines={[{ name: shown.text, text: "" }]}
          from={box.left}
          to={box.left + box.width}
          width={width}
          top={box.top}
        />
      )}
    </>
  );
}

/** The places of the cells, column by column. */
const inOrder = (rows: Props["rows"]): At[] =>
  Array.from({ length: Math.max(0, ...rows.map((row) => row.length)) }, (_, column) =>
    rows.flatMap((cells, row): At[] => (cells[column] ? [[row, column]] : [])),
  ).flat();

/** The last cell with a value, or the last one. */
function lastUsed(rows: Props["rows"]): At | undefined {
  const all = inOrder(rows);
  return all.findLast(([row, column]) => (rows[row]?.[column]?.value ?? 0) > 0) ?? all.at(-1);
}

/** The place to which a key moves. */
function moved(key: string, [row, column]: At, rows: Props["rows"]): At | undefined {
  const step = MOVES[key];
  if (step) {
    const [next, across] = [row + step[0], column + step[1]];
    return rows[next]?.[across] ? [next, across] : undefined;
  }
  return key === "Home" ? inOrder(rows)[0] : key === "End" ? inOrder(rows).at(-1) : undefined;
}

/** The colours of the levels, from none to the largest. */
export function LevelLegend() {
  return (
    <div className={styles.legend}>
      <span>Less</span>
      {LEVEL_STYLES.slice(0, LEVELS + 1).map((level) => (
        <svg key={level} width={12} height={12} aria-hidden>
          <rect width={12} height={12} rx={2.5} className={level} />
        </svg>
      ))}
      <span>More</span>
    </div>
  );
}
