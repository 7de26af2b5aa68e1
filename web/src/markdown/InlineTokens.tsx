import type { Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { visible } from "../ui/sanitize";
import { CodeSpan } from "./CodeSpan";
import { decodeEntities } from "./entities";
import type { MathsToken, ReferenceToken } from "./grammar";
import { Image } from "./Image";
import { Link } from "./Link";
import styles from "./Markdown.module.css";
import { Maths } from "./Maths";
import { PlainText } from "./PlainText";

/** Text, links, emphasis. */
export function InlineTokens({ tokens }: { tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <InlineToken key={index} token={token as Tokens.Generic} />);
}

function InlineToken({ token }: { token: Tokens.Generic }): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? (
        <InlineTokens tokens={token.tokens} />
      ) : (
        <PlainText text={decodeEntities(token.text)} />
      );
    case "escape":
      return visible(token.text);
    case "strong":
      return <strong>{inner(token)}</strong>;
    case "em":
      return <em>{inner(token)}</em>;
    case "del":
      return <del>{inner(token)}</del>;
    case "codespan":
      return <CodeSpan text={token.text} />;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={token.href as string} text={token.text as string}>
          {inner(token)}
        </Link>
      );
    case "image":
      return <Image href={token.href as string} text={token.text as string} />;
    case "maths":
      return <Maths token={token as MathsToken} />;
    case "reference":
      return <sup className={styles.reference}>{visible((token as ReferenceToken).label)}</sup>;
    case "html":
      return /^<br\s*\/?>$/i.test(token.text) ? <br /> : <PlainText text={token.text} />;
    default:
      return <PlainText text={token.raw} />;
  }
}

const inner = (token: Tokens.Generic): ReactNode => <InlineTokens tokens={token.tokens ?? []} />;
