import { memo, useMemo, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { revealText, usePartial } from "../ui/reveal";
import { BlockTokens } from "./BlockTokens";
import { type Blocks, NO_BLOCKS, splitBlocks, withoutAmbiguousEnd } from "./blocks";
import { type Links, lexBlock } from "./grammar";
import styles from "./Markdown.module.css";

/** Characters that are rendered before the user clicks "Show more". */
const PAGE = 200_000;

interface Props {
  readonly text: string;
  /** The text is still streaming. */
  readonly live: boolean;
  /** Newlines are line breaks, as users expect in their own messages. */
  readonly breaks?: boolean;
}

/** Renders Markdown. HTML in the text never becomes HTML of the page. */
export function Markdown({ text, live, breaks = false }: Props) {
  const [limit, setLimit] = useState(PAGE);
  const last = useRef<Blocks>(NO_BLOCKS);
  const { sources, links } = useMemo(() => {
    const shown = normalizeNewlines(text.length > limit ? text.slice(0, limit) : text);
    last.current = splitBlocks(live ? withoutAmbiguousEnd(shown) : shown, last.current);
    return last.current;
  }, [text, live, limit]);
  const show = (end: number) => setLimit(PAGE * Math.ceil(end / PAGE));
  const area = usePartial(text.length > limit ? (wanted) => revealText(text, limit, wanted, show) : null);
  return (
    <div className={styles.markdown} {...area}>
      {sources.map((source, index) =>
        source.trim() ? <Block key={index} source={source} links={links} breaks={breaks} /> : null,
      )}
      {text.length > limit && (
        <Button small onClick={() => setLimit(limit + PAGE)}>
          Show more of {bytes(text.length)}
        </Button>
      )}
    </div>
  );
}

const normalizeNewlines = (text: string): string =>
  text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;

/** A block. It renders again only if its source changes, so that streaming renders only the last block. */
const Block = memo(function Block({
  source,
  links,
  breaks,
}: {
  source: string;
  links: Links;
  breaks: boolean;
}) {
  const tokens = useMemo(() => lexBlock(source, links, breaks), [source, links, breaks]);
  return <BlockTokens tokens={tokens} />;
});
