import { Fragment, type ReactNode, useMemo, useState } from "react";
import { renderTree, useHighlighter } from "../markdown/highlight";
import { plural } from "../ui/format";
import { revealText, usePartial } from "../ui/reveal";
import { visible } from "../ui/sanitize";
import styles from "./Diff.module.css";
import { type HunkLines, pairs, type Row, rowsOf } from "./diffs";

const MAX_LINE_LENGTH = 2000;
const MARK_LABELS = { "+": "added", "-": "removed", " ": "" } as const;

interface Props {
  readonly hunks: readonly HunkLines[];
  readonly isSplit: boolean;
  /** The most lines that are shown. */
  readonly limit: number;
  /** The language of the file, to colour its lines. */
  readonly language?: string;
  /** What is above a hunk, by its index; by default there is a gap between two. */
  readonly headOf?: (hunk: number) => ReactNode;
}

/** The lines of hunks with their numbers and the changed words. */
export function DiffTable({ hunks, isSplit, limit, language, headOf }: Props) {
  const shown = useMemo(() => visibleRows(hunks, limit), [hunks, limit]);
  const hasNumbers = hunks.some((hunk) => hunk.oldStart !== undefined || hunk.newStart !== undefined);
  const colour = useColour(language);
  const wide = (isSplit ? 4 : 2) + (hasNumbers ? 2 : 0);
  return (
    <table className={styles.table} data-split={isSplit}>
      <tbody>
        {shown.map((rows, at) => (
          <Fragment key={at}>
            {(headOf || at > 0) && (
              <tr className={styles.gap}>
                <td colSpan={wide}>{headOf ? headOf(at) : "⋯"}</td>
              </tr>
            )}
            {isSplit ? (
              <Split rows={rows} numbers={hasNumbers} colour={colour} />
            ) : (
              <Unified rows={rows} numbers={hasNumbers} colour={colour} />
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

type Colour = ((text: string) => ReactNode) | null;

/** Colours a line; null if the language is unknown. */
function useColour(language: string | undefined): Colour {
  const highlighter = useHighlighter(language !== undefined);
  return useMemo(() => {
    if (!language || !highlighter?.registered(language)) return null;
    return (text) => renderTree(highlighter.highlight(language, text));
  }, [language, highlighter]);
}

interface RowsProps {
  readonly rows: readonly Row[];
  readonly numbers: boolean;
  readonly colour: Colour;
}

function visibleRows(hunks: readonly HunkLines[], limit: number): Row[][] {
  const shown: Row[][] = [];
  let remaining = limit;
  for (const hunk of hunks) {
    if (remaining <= 0) break;
    shown.push(rowsOf({ ...hunk, lines: hunk.lines.slice(0, remaining) }));
    remaining -= hunk.lines.length;
  }
  return shown;
}

function Unified({ rows, numbers, colour }: RowsProps) {
  return rows.map((row, at) => (
    <tr key={at} data-mark={row.mark}>
      {numbers && <td className={styles.number}>{row.old}</td>}
      {numbers && <td className={styles.number}>{row.new}</td>}
      <Sign row={row} />
      <Text row={row} colour={colour} />
    </tr>
  ));
}

function Split({ rows, numbers, colour }: RowsProps) {
  return pairs(rows).map(([left, right], at) => (
    <tr key={at}>
      {numbers && <td className={styles.number}>{left?.old}</td>}
      <Sign row={left} />
      <Text row={left} colour={colour} />
      {numbers && <td className={styles.number}>{right?.new}</td>}
      <Sign row={right} />
      <Text row={right} colour={colour} />
    </tr>
  ));
}

const Sign = ({ row }: { row: Row | null }) => (
  <td className={styles.sign} data-mark={row?.mark}>
    <span aria-hidden>{row?.mark === "-" ? "−" : row?.mark}</span>
    {row && <span className="visually-hidden">{MARK_LABELS[row.mark]}</span>}
  </td>
);

function Text({ row, colour }: { row: Row | null; colour: Colour }) {
  if (!row) return <td className={styles.none} />;
  return (
    <td className={styles.text} data-mark={row.mark}>
      {row.pieces
        ? row.pieces.map((piece, at) =>
            piece.changed ? (
              <span key={at} className={styles.changed}>
                {visible(piece.text)}
              </span>
            ) : (
              visible(piece.text)
            ),
          )
        : coloured(row.text, colour)}
    </td>
  );
}

function coloured(text: string, colour: Colour): ReactNode {
  const line = text.replace(/\r$/, "");
  if (line.length > MAX_LINE_LENGTH) return <LongLine text={line} />;
  return colour ? colour(line) : visible(line);
}

/** The first characters of a line; all of them if a word in it is sought. */
function LongLine({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const area = usePartial(
    isWhole ? null : (wanted) => revealText(text, MAX_LINE_LENGTH, wanted, () => setWhole(true)),
  );
  const rest = text.length - MAX_LINE_LENGTH;
  return (
    <span {...area}>
      {isWhole
        ? visible(text)
        : `${visible(text.slice(0, MAX_LINE_LENGTH))} … ${plural(rest, "more character")}`}
    </span>
  );
}
