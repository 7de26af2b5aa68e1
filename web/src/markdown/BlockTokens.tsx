import type { Token, Tokens } from "marked";
import { type ReactNode, useContext } from "react";
import { visible } from "../ui/sanitize";
import { Code } from "./Code";
import type { FootnoteToken, MathsToken } from "./grammar";
import { HeadingLevel, headingTag } from "./headingLevel";
import { InlineTokens } from "./InlineTokens";
import styles from "./Markdown.module.css";
import { Maths } from "./Maths";
import { Mermaid } from "./Mermaid";
import { PlainText } from "./PlainText";
import { Table } from "./Table";

/** Blocks: paragraphs, lists, code, tables. HTML in the source is displayed as text. */
export function BlockTokens({ tokens }: { tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <BlockToken key={index} token={token as Tokens.Generic} />);
}

function BlockToken({ token }: { token: Tokens.Generic }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "paragraph":
      return (
        <p>
          <InlineTokens tokens={token.tokens ?? []} />
        </p>
      );
    case "text": // of a list item, or beyond the limits of the grammar
      return token.tokens ? (
        <InlineTokens tokens={token.tokens} />
      ) : (
        <span className={styles.plain}>
          <PlainText text={token.text} />
        </span>
      );
    case "code":
      return <CodeBlock token={token as Tokens.Code} />;
    case "blockquote":
      return (
        <blockquote>
          <BlockTokens tokens={token.tokens ?? []} />
        </blockquote>
      );
    case "list":
      return <List token={token as Tokens.List} />;
    case "checkbox":
      return <Checkbox checked={token.checked as boolean} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "maths":
      return <Maths token={token as MathsToken} />;
    case "footnote":
      return <Footnote token={token as FootnoteToken} />;
    default: // HTML and unknown tokens
      return (
        <p className={styles.markup}>
          <PlainText text={token.raw.trimEnd()} />
        </p>
      );
  }
}

/** All headings of a text have the level below that of the message: models skip levels, which breaks the outline. */
function Heading({ token }: { token: Tokens.Heading }) {
  const Tag = headingTag(useContext(HeadingLevel));
  return (
    <Tag className={styles.heading} data-depth={token.depth}>
      <InlineTokens tokens={token.tokens} />
    </Tag>
  );
}

const CLOSED = /(?:^|\n) {0,3}(?:`{3,}|~{3,})[ \t]*\n*$/;

function CodeBlock({ token }: { token: Tokens.Code }) {
  const info = token.lang?.trim();
  const language = info?.split(/[\s{,:]/, 1)[0] || undefined;
  const isClosed = token.codeBlockStyle === "indented" || CLOSED.test(token.raw.replace(/^[^\n]*/, ""));
  if (language === "mermaid") return <Mermaid source={token.text} closed={isClosed} />;
  return (
    <Code text={token.text} language={language} label={info ? visible(info) : undefined} open={!isClosed} />
  );
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? styles.task : undefined}>
      <BlockTokens tokens={item.tokens} />
    </li>
  ));
  if (!token.ordered) return <ul data-loose={token.loose}>{items}</ul>;
  return (
    <ol start={token.start === "" ? undefined : token.start} data-loose={token.loose}>
      {items}
    </ol>
  );
}

function Checkbox({ checked }: { checked: boolean }) {
  return (
    <span
      className={styles.box}
      role="img"
      aria-label={checked ? "Done:" : "To do:"}
      data-checked={checked}
    />
  );
}

function Footnote({ token }: { token: FootnoteToken }) {
  return (
    <p className={styles.footnote}>
      <sup>{visible(token.label)}</sup> <InlineTokens tokens={token.tokens} />
    </p>
  );
}
