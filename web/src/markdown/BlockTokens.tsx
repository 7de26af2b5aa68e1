import type { Token, Tokens } from "marked";
import { type ReactNode, useContext } from "react";
import { visible } from "../ui/hostile";
import { Code } from "./Code";
import { InlineTokens } from "./InlineTokens";
import { HeadingLevel, headingTag } from "./level";
import styles from "./Markdown.module.css";
import { Maths } from "./Maths";
import { Mermaid } from "./Mermaid";
import type { FootnoteToken, MathsToken } from "./rules";
import { Table } from "./Table";
import { Words } from "./Words";

/** Blocks: paragraphs, lists, code, tables. What is markup in the source is shown as text. */
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
    case "text": // of an item of a list, or too deep or too long to be looked into
      return token.tokens ? (
        <InlineTokens tokens={token.tokens} />
      ) : (
        <span className={styles.plain}>
          <Words text={token.text} />
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
    default: // markup, or what a later grammar has
      return (
        <p className={styles.markup}>
          <Words text={token.raw.trimEnd()} />
        </p>
      );
  }
}

/** All headings of a text have one level below its message: models skip levels, and readers would stumble. */
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
