import type { Tokens } from "marked";
import { InlineTokens } from "./InlineTokens";
import styles from "./Markdown.module.css";

/** A table that scrolls horizontally if it is wide. */
export function Table({ token }: { token: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.scroll} tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <Cell key={index} cell={cell} head />
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <Cell key={place} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell({ cell, head = false }: { cell: Tokens.TableCell; head?: boolean }) {
  const isHead = head && cell.text.trim() !== "";
  const Tag = isHead ? "th" : "td";
  return (
    <Tag scope={isHead ? "col" : undefined} style={cell.align ? { textAlign: cell.align } : undefined}>
      <InlineTokens tokens={cell.tokens} />
    </Tag>
  );
}
