import { type KeyboardEvent, useState } from "react";
import { colourOf } from "./Patterns";
import type { Rect } from "./squarify";
import { Tip } from "./Tip";
import styles from "./Treemap.module.css";
import { HEAD, type Placed } from "./treeLayout";
import { useWidth } from "./useWidth";

interface Props {
  readonly name: string;
  readonly summary: string;
  readonly height: number;
  /** The places in a rectangle. */
  readonly place: (within: Rect) => readonly Placed[];
  readonly format: (value: number) => string;
}

/** The width of a character and the space at the sides of a text, in pixels. */
const CHARACTER = 6.6;
const PADDING = 7;
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Rectangles in groups, as large as their values: one tab stop, then the arrow keys. Every one is a link. */
export function Treemap({ name, summary, height, place, format }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const [current, setCurrent] = useState(0);
  const [open, setOpen] = useState<number | null>(null);
  const placed = width > 0 ? place({ x: 0, y: 0, width, height }) : [];
  const stop = Math.min(current, placed.length - 1);
  const shown = open === null ? undefined : placed[open];
  const onKey = (event: KeyboardEvent<HTMLUListElement>) => {
    const step = STEPS[event.key];
    const next =
      event.key === "Home" ? 0 : event.key === "End" ? placed.length - 1 : step ? stop + step : undefined;
    if (next === undefined || !placed[next]) return;
    event.preventDefault();
    event.currentTarget.querySelectorAll<HTMLElement>("a")[next]?.focus();
  };
  return (
    <div ref={container} className={styles.treemap} style={{ height }}>
      {width > 0 && (
        <>
          <svg width={width} height={height} role="img" aria-label={summary}>
            {placed.map((one, index) => (
              <Cell
                key={one.item.key}
                placed={one}
                isSplit={placed[index + 1]?.isGroup === false}
                format={format}
              />
            ))}
          </svg>
          <ul className={styles.links} onKeyDown={onKey} aria-label={`${name}, by size`}>
            {placed.map(({ item, rect, isGroup }, index) => (
              <li key={item.key} style={boxOf(rect, isGroup && placed[index + 1]?.isGroup === false)}>
                <a
                  href={item.href}
                  className={styles.link}
                  aria-label={`${item.name}: ${format(item.value)}. ${item.action}`}
                  tabIndex={index === stop ? 0 : -1}
                  onFocus={() => {
                    setCurrent(index);
                    setOpen(index);
                  }}
                  onBlur={() => setOpen(null)}
                  onMouseEnter={() => setOpen(index)}
                  onMouseLeave={() => setOpen(null)}
                >
                  <span />
                </a>
              </li>
            ))}
          </ul>
          {shown && (
            <Tip
              label={shown.item.name}
              lines={[{ name: format(shown.item.value), text: shown.item.action }]}
              from={shown.rect.x}
              to={shown.rect.x + Math.min(shown.rect.width, width / 2 - 60)}
              width={width}
              top={Math.min(shown.rect.y + 4, height - 60)}
            />
          )}
        </>
      )}
    </div>
  );
}

/** The place of the link: of a group with items, its head. */
const boxOf = ({ x, y, width, height }: Rect, isSplit: boolean) => ({
  left: x,
  top: y,
  width,
  height: isSplit ? HEAD : height,
});

interface CellProps {
  readonly placed: Placed;
  readonly isSplit: boolean;
  readonly format: (value: number) => string;
}

function Cell({ placed: { item, rect, colour, isGroup }, isSplit, format }: CellProps) {
  const { width, height } = rect;
  const value = format(item.value);
  const hasHead = isGroup && isSplit;
  const room = (text: string) => (width - 2 * PADDING) / CHARACTER >= text.length;
  const inHead = hasHead && room(`${cut(item.name, 8)}  ${value}`);
  const name = cut(
    item.name,
    Math.floor((width - 2 * PADDING) / CHARACTER) - (inHead ? value.length + 2 : 0),
  );
  const y = hasHead ? 14.5 : 17;
  return (
    <>
      <rect
        {...rect}
        height={hasHead ? HEAD - 2 : height}
        rx={3}
        style={{ "--colour": colourOf(colour) } as object}
        className={hasHead ? styles.head : styles.cell}
      />
      {width > 44 && height > 18 && (
        <text className={isGroup ? styles.group : styles.name} x={rect.x + PADDING} y={rect.y + y}>
          {name}
        </text>
      )}
      {inHead ? (
        <text className={styles.value} x={rect.x + width - PADDING} y={rect.y + y} textAnchor="end">
          {value}
        </text>
      ) : (
        !hasHead &&
        height > 38 &&
        width > 44 &&
        room(value) && (
          <text className={styles.value} x={rect.x + PADDING} y={rect.y + y + 15}>
            {value}
          </text>
        )
      )}
    </>
  );
}

/** At most so many characters. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : most > 1 ? `${text.slice(0, most - 1).trimEnd()}…` : "";
