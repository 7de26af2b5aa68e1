/** The grammar: GitHub's Markdown with maths and footnotes, and bounds on how deep it is looked into. */
import { Lexer, Marked, type Token, type TokenizerExtension, type Tokens } from "marked";

/** How deep quotes, lists and emphasis are followed; what is deeper is text. */
export const MAX_DEPTH = 12;
/** Characters of one block, code aside; a longer one is text. */
export const MAX_BLOCK = 40_000;

/** The same of one paragraph, and how many brackets it may open: looking for their ends takes the square of both. */
const MAX_RUN = 10_000;
const MAX_BRACKETS = 500;

export type Links = Record<string, { href: string; title?: string | null }>;

export interface MathsToken extends Tokens.Generic {
  type: "maths";
  text: string;
  display: boolean;
  /** It has not ended yet. */
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
// As pandoc has it: no space inside the signs, no digit (and here, no letter) after them.
const DOLLARS = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){0,1000}(?:\\[^\n]|[^\\$\s]))\$(?![\w$])/;
const PRICE = /^\d[\d.,]*\s*(?:[a-z]{2,}|[-–—/(])/i;
const FOOTNOTE = /^\[\^([^\]\s]{1,64})\]:[ \t]+([^\n]*(?:\n(?: {2,}|\t)[^\n]+)*)(?:\n|$)/;
const REFERENCE = /^\[\^([^\]\s]{1,64})\](?!:)/;

/** Whether what is between two dollar signs is a sum of money and some words. */
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
const GRAMMAR_OF_TALK = new Marked({ gfm: true, breaks: true, extensions: EXTENSIONS }).defaults;

function isHeavy(source: string): boolean {
  if (source.length > MAX_RUN) return true;
  return source.length > MAX_BRACKETS && source.split("[").length > MAX_BRACKETS;
}

/** A lexer that stops to look inside where it gets too deep: neither the stack nor the time runs out. */
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
    if (this.inlineDeep >= MAX_DEPTH || isHeavy(source)) {
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

/** The blocks of a text, not looked into; and where its references lead. */
export function outline(text: string): { tokens: readonly Token[]; links: Links } {
  const lexer = new BoundedLexer(GRAMMAR);
  lexer.blockTokens(text, lexer.tokens);
  return { tokens: lexer.tokens, links: lexer.tokens.links as Links };
}

/** All that is in a block. `breaks`: a new line is one, as in what people type. */
export function lexBlock(raw: string, links: Links, breaks = false): readonly Token[] {
  if (raw.length > MAX_BLOCK && !/^ {0,3}(?:```|~~~)/.test(raw)) return [plain(raw)];
  const lexer = new BoundedLexer(breaks ? GRAMMAR_OF_TALK : GRAMMAR);
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(raw);
}
