import { WrapText } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { bytes, plural } from "../ui/format";
import { revealText, usePartial } from "../ui/reveal";
import { visible } from "../ui/sanitize";
import styles from "./Code.module.css";
import { MAX_LENGTH, renderTree, useHighlighter } from "./highlight";

/** Lines and characters of code that are displayed before the user expands it. */
export const COLLAPSED_LINES = 40;
const COLLAPSED_LENGTH = 20_000;
/** Characters that each click on "Show more" adds. */
const PAGE = 400_000;
/** Streaming code up to this length is highlighted with every delta. */
const MAX_LIVE_HIGHLIGHT = 4_000;

interface Props {
  readonly text: string;
  readonly language?: string;
  /** Replaces the language in the head. */
  readonly label?: ReactNode;
  /** The code is still streaming. */
  readonly open?: boolean;
  /** Never collapse the code. */
  readonly whole?: boolean;
}

/** A code block with highlighting and a copy button. Long code is collapsed. */
export function Code({ text, language, label, open = false, whole = false }: Props) {
  const [wrap, setWrap] = useState(false);
  const [limit, setLimit] = useState(whole ? PAGE : COLLAPSED_LENGTH);
  const isExpanded = limit > COLLAPSED_LENGTH;
  const { shown, hidden } = useMemo(
    // Streaming code is not collapsed, so that its end stays visible.
    () => truncate(text, isExpanded || open ? Number.POSITIVE_INFINITY : COLLAPSED_LINES, limit),
    [text, isExpanded, open, limit],
  );
  const name = label ?? (language ? visible(language) : "text");
  const show = (end: number) => setLimit(PAGE * Math.ceil(end / PAGE));
  const area = usePartial(hidden ? (wanted) => revealText(text, shown.length, wanted, show) : null);
  return (
    <div className={styles.block} {...area}>
      <div className={styles.head}>
        <span className={styles.language}>{name}</span>
        <IconButton label="Wrap lines" pressed={wrap} onClick={() => setWrap(!wrap)}>
          <WrapText size={14} />
        </IconButton>
        <CopyButton text={text} label="Copy code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre className={styles.code} data-wrap={wrap} tabIndex={0}>
        <code>
          <HighlightedCode text={shown} language={language} open={open} />
        </code>
      </pre>
      {hidden && (
        <Button
          small
          kind="quiet"
          className={styles.more}
          onClick={() => setLimit(isExpanded ? limit + PAGE : PAGE)}
        >
          {hidden}
        </Button>
      )}
      {isExpanded && !hidden && !whole && lines(text) > COLLAPSED_LINES && (
        <Button small kind="quiet" className={styles.more} onClick={() => setLimit(COLLAPSED_LENGTH)}>
          Show less
        </Button>
      )}
    </div>
  );
}

/** Highlighted code without a frame. */
export function HighlightedCode({
  text,
  language,
  open = false,
}: {
  text: string;
  language?: string;
  open?: boolean;
}) {
  const isHighlightable = language !== undefined && text.length <= (open ? MAX_LIVE_HIGHLIGHT : MAX_LENGTH);
  const highlighter = useHighlighter(isHighlightable);
  return useMemo(() => {
    const known = language?.toLowerCase();
    if (!isHighlightable || !known || !highlighter?.registered(known)) return visible(text);
    return renderTree(highlighter.highlight(known, text));
  }, [text, language, isHighlightable, highlighter]);
}

/** The first `maxLines` lines of at most `length` characters, and a label for the rest. */
export function truncate(
  text: string,
  maxLines: number,
  length: number,
): { shown: string; hidden: string | null } {
  const end = Math.min(endOfLine(text, maxLines), length);
  if (end >= text.length) return { shown: text, hidden: null };
  const isByLines = end < length;
  return {
    shown: text.slice(0, end),
    hidden: isByLines ? `Show all ${plural(lines(text), "line")}` : `Show more of ${bytes(text.length)}`,
  };
}

/** The end of the line with this number; the end of the text if it has fewer lines. */
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
