import { WrapText } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { bytes, plural } from "../ui/format";
import { visible } from "../ui/hostile";
import styles from "./Code.module.css";
import { coloured, MAX_COLOURED, useHighlighter } from "./highlight";

/** What is shown of code before somebody asks for all of it. */
export const FOLDED_LINES = 40;
const FOLDED_LENGTH = 20_000;
/** Characters that each further press shows. */
const PAGE = 400_000;
/** Code that is still coming is coloured with every piece, as long as that is quick. */
const QUICK = 4_000;

interface Props {
  readonly text: string;
  readonly language?: string;
  /** In the head instead of the language: the name of a file. */
  readonly label?: ReactNode;
  /** More is coming. */
  readonly open?: boolean;
  /** Nothing is folded away. */
  readonly whole?: boolean;
}

/** Code: coloured, to be copied, folded when it is long. */
export function Code({ text, language, label, open = false, whole = false }: Props) {
  const [wrap, setWrap] = useState(false);
  const [limit, setLimit] = useState(whole ? PAGE : FOLDED_LENGTH);
  const isUnfolded = limit > FOLDED_LENGTH;
  const { shown, hidden } = useMemo(
    // What is still coming is not folded: it would be hidden while one reads along.
    () => cut(text, isUnfolded || open ? Number.POSITIVE_INFINITY : FOLDED_LINES, limit),
    [text, isUnfolded, open, limit],
  );
  const name = label ?? (language ? visible(language) : "text");
  return (
    <div className={styles.block}>
      <div className={styles.head}>
        <span className={styles.language}>{name}</span>
        <IconButton label="Wrap lines" pressed={wrap} onClick={() => setWrap(!wrap)}>
          <WrapText size={14} />
        </IconButton>
        <CopyButton text={text} label="Copy the code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <pre className={styles.code} data-wrap={wrap} tabIndex={0}>
        <code>
          <Coloured text={shown} language={language} open={open} />
        </code>
      </pre>
      {hidden && (
        <Button
          small
          kind="quiet"
          className={styles.more}
          onClick={() => setLimit(isUnfolded ? limit + PAGE : PAGE)}
        >
          {hidden}
        </Button>
      )}
      {isUnfolded && !hidden && !whole && lines(text) > FOLDED_LINES && (
        <Button small kind="quiet" className={styles.more} onClick={() => setLimit(FOLDED_LENGTH)}>
          Show less
        </Button>
      )}
    </div>
  );
}

/** Code in its colours, without anything around it. */
export function Coloured({
  text,
  language,
  open = false,
}: {
  text: string;
  language?: string;
  open?: boolean;
}) {
  const isWanted = language !== undefined && text.length <= (open ? QUICK : MAX_COLOURED);
  const highlighter = useHighlighter(isWanted);
  return useMemo(() => {
    const known = language?.toLowerCase();
    if (!isWanted || !known || !highlighter?.registered(known)) return visible(text);
    return coloured(highlighter.highlight(known, text));
  }, [text, language, isWanted, highlighter]);
}

/** The first `lines` lines of at most `length` characters, and in words what is not among them. */
export function cut(text: string, most: number, length: number): { shown: string; hidden: string | null } {
  const end = Math.min(endOfLine(text, most), length);
  if (end >= text.length) return { shown: text, hidden: null };
  const isByLines = end < length;
  return {
    shown: text.slice(0, end),
    hidden: isByLines ? `Show all ${plural(lines(text), "line")}` : `Show more of ${bytes(text.length)}`,
  };
}

/** Where the line with this number ends; past the text when there are not so many. */
function endOfLine(text: string, line: number): number {
  if (line === Number.POSITIVE_INFINITY) return text.length;
  let at = -1;
  for (let found = 0; found < line; found += 1) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text.length;
  }
  return at;
}

function lines(text: string): number {
  let found = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}
