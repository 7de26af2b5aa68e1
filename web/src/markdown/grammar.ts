/** The grammar: GitHub Flavored Markdown with maths and footnotes, and limits for nesting and length. */
import { Lexer, Marked, type Token, type TokenizerExtension, type Tokens } from "marked";

/** The nesting limit for quotes, lists and emphasis. Deeper content is plain text. */
export const MAX_DEPTH = 12;
/** The length limit of a block other than code. Longer blocks are plain text. */
export const MAX_BLOCK = 40_000;

/** Limits for inline content. The time to match brackets grows with the square of both. */
const MAX_RUN = 10_000;
const MAX_BRACKETS = 500;

export type Links = Record<string, { href: string; title?: string | null }>;

export interface MathsToken extends Tokens.Generic {
  type: "maths";
  text: string;
  display: boolean;
  /** The end has not arrived yet. */
  open: boolean;
}

export interface FootnoteToken extends Tokens.Generic {
  type: "footnote";
  label: string;
  tokens: Token[];
}

export interface ReferenceToken extends Tokens.Generic {
  type: "reference";
  label: string;
}

const DISPLAY_BLOCK = /^ {0,3}(?:\$\$([\s\S]*?)(\$\$|$)|\\\[([\s\S]*?)(\\\]|$))[ \t]*(?:\n|$)/;
const DISPLAY_INLINE = /^(?:\$\$([^$]{1,4000}?)\$\$|\\\[([\s\S]{1,4000}?)\\\])/;
const BRACKETS = /^\\\(([\s\S]{1,2000}?)\\\)/;
// As in Pandoc: no space inside the dollar signs, no digit after them. Here also no letter.
const DOLLARS = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){0,1000}(?:\\[^\n]|[^\\$\s]))\$(?![\w$])/;
const PRICE = /^\d[\d.,]*\s*(?:[a-z]{2,}|[-–—/(])/i;
const FOOTNOTE = /^\[\^([^\]\s]{1,64})\]:[ \t]+([^\n]*(?:\n(?: {2,}|\t)[^\n]+)*)(?:\n|$)/;
const REFERENCE = /^\[\^([^\]\s]{1,64})\](?!:)/;

/** Whether the text between two dollar signs is an amount of money with some words. */
const isPrice = (text: string): boolean => PRICE.test(text) && !/[\\^_{}=]/.test(text);

function maths(raw: string, text: string, display: boolean, open = false): MathsToken {
  return { type: "maths", raw, text: text.trim(), display, open };
}

const EXTENSIONS: TokenizerExtension[] = [
  {
    name: "mathsBlock",
    level: "block",
    tokenizer(source) {
      const found = DISPLAY_BLOCK.exec(source);
      const text = found?.[1] ?? found?.[3];
      if (!found || !text?.trim()) return undefined;
      return maths(found[0], text, true, !(found[2] || found[4]));
    },
  },
  {
    name: "maths",
    level: "inline",
    start: (source) => {
      const at = source.search(/\$|\\[([]/);
      return at < 0 ? undefined : at;
    },
    tokenizer(source) {
      const display = DISPLAY_INLINE.exec(source);
      if (display) return maths(display[0], display[1] ?? display[2] ?? "", true);
      const brackets = BRACKETS.exec(source);
      if (brackets) return maths(brackets[0], brackets[1] ?? "", false);
      const dollars = DOLLARS.exec(source);
      return dollars?.[1] && !isPrice(dollars[1]) ? maths(dollars[0], dollars[1], false) : undefined;
    },
  },
  {
    name: "footnote",
    level: "block",
    tokenizer(source) {
      const found = FOOTNOTE.exec(source);
      if (!found) return undefined;
      const tokens: Token[] = [];
      this.lexer.inline(found[2] ?? "", tokens);
      return { type: "footnote", raw: found[0], label: found[1], tokens } as FootnoteToken;
    },
  },
  {
    name: "reference",
    level: "inline",
    start: (source) => {
      const at = source.indexOf("[^");
      return at < 0 ? undefined : at;
    },
    tokenizer(source) {
      const found = REFERENCE.exec(source);
      return found ? ({ type: "reference", raw: found[0], label: found[1] } as ReferenceToken) : undefined;
    },
  },
];

const GRAMMAR = new Marked({ gfm: true, extensions: EXTENSIONS }).defaults;
const GRAMMAR_WITH_BREAKS = new Marked({ gfm: true, breaks: true, extensions: EXTENSIONS }).defaults;

function isExpensive(source: string): boolean {
  if (source.length > MAX_RUN) return true;
  return source.length > MAX_BRACKETS && source.split("[").length > MAX_BRACKETS;
}

/** A lexer with a nesting limit, so that it does not exhaust the stack. */
class BoundedLexer extends Lexer {
  private blocksDeep = 0;
  private inlineDeep = 0;

  override blockTokens(source: string, tokens: Token[] = this.tokens, clipped?: boolean): never {
    if (this.blocksDeep >= MAX_DEPTH) {
      tokens.push(plain(source));
      return tokens as never;
    }
    this.blocksDeep += 1;
    try {
      return super.blockTokens(source, tokens, clipped) as never;
    } finally {
      this.blocksDeep -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (this.inlineDeep >= MAX_DEPTH || isExpensive(source)) {
      tokens.push(plain(source));
      return tokens;
    }
    this.inlineDeep += 1;
    try {
      return super.inlineTokens(source, tokens);
    } finally {
      this.inlineDeep -= 1;
    }
  }
}

const plain = (text: string): Token => ({ type: "text", raw: text, text, escaped: false });

/** The top-level blocks of a text and its link definitions, without inline tokens. */
export function outline(text: string): { tokens: readonly Token[]; links: Links } {
  const lexer = new BoundedLexer(GRAMMAR);
  lexer.blockTokens(text, lexer.tokens);
  return { tokens: lexer.tokens, links: lexer.tokens.links as Links };
}

/** The tokens of a block. With `breaks`, a newline is a line break. */
export function lexBlock(raw: string, links: Links, breaks = false): readonly Token[] {
  if (raw.length > MAX_BLOCK && !/^ {0,3}(?:```|~~~)/.test(raw)) return [plain(raw)];
  const lexer = new BoundedLexer(breaks ? GRAMMAR_WITH_BREAKS : GRAMMAR);
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(raw);
}
