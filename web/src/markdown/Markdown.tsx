import { memo, useMemo, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { BlockTokens } from "./BlockTokens";
import { type Blocks, NO_BLOCKS, splitBlocks, steady } from "./blocks";
import styles from "./Markdown.module.css";
import { type Links, lexBlock } from "./rules";

/** Characters that are drawn before somebody asks for more. */
const PAGE = 200_000;

interface Props {
  readonly text: string;
  /** It is still coming. */
  readonly live: boolean;
  /** A new line is one: for what people type. */
  readonly breaks?: boolean;
}

/** Markdown as elements of ours. No markup of the text becomes markup of the page. */
export function Markdown({ text, live, breaks = false }: Props) {
  const [limit, setLimit] = useState(PAGE);
  const last = useRef<Blocks>(NO_BLOCKS);
  const { sources, links } = useMemo(() => {
    const shown = tidy(text.length > limit ? text.slice(0, limit) : text);
    last.current = splitBlocks(live ? steady(shown) : shown, last.current);
    return last.current;
  }, [text, live, limit]);
  return (
    <div className={styles.markdown}>
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

const tidy = (text: string): string => (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);

/** One block. It is drawn again only when its source changes, so that a stream costs its last block alone. */
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
