/** Incomplete JSON text → value, by the repair rules of `parsePartialJson` in the npm package `ai`, release 7. */

type At =
  | "root"
  | "end"
  | "string"
  | "escape"
  | "unicode"
  | "literal"
  | "number"
  | "object-start"
  | "key"
  | "after-key"
  | "before-value"
  | "after-member"
  | "next-member"
  | "array-start"
  | "after-item"
  | "next-item";

/** What takes the place of the innermost state, and whether the text is worth keeping up to here. */
interface Move {
  readonly becomes: readonly At[];
  readonly keep: boolean;
}

const CLOSED: Move = { becomes: [], keep: true };
const goTo = (at: At): Move => ({ becomes: [at], keep: false });

function valueThen(after: At): Record<string, Move> {
  const moves: Record<string, Move> = {
    '"': { becomes: [after, "string"], keep: true },
    "{": { becomes: [after, "object-start"], keep: true },
    "[": { becomes: [after, "array-start"], keep: true },
  };
  for (const char of "tfn") moves[char] = { becomes: [after, "literal"], keep: true };
  for (const char of "-0123456789") moves[char] = { becomes: [after, "number"], keep: char !== "-" };
  return moves;
}

// A character that is missing here is passed over.
const MOVES: Partial<Record<At, Record<string, Move>>> = {
  root: valueThen("end"),
  string: { '"': CLOSED, "\\": { becomes: ["string", "escape"], keep: false } },
  "object-start": { '"': goTo("key"), "}": CLOSED },
  key: { '"': goTo("after-key") }, // an escaped quote ends a key as well
  "after-key": { ":": goTo("before-value") },
  "before-value": valueThen("after-member"),
  "after-member": { ",": goTo("next-member"), "}": CLOSED },
  "next-member": { '"': goTo("key") },
  "array-start": { ...valueThen("after-item"), "]": CLOSED },
  "after-item": { ",": goTo("next-item"), "]": CLOSED },
  "next-item": valueThen("after-item"),
};

const CLOSERS: Partial<Record<At, string>> = {
  string: '"',
  "object-start": "}",
  key: "}",
  "after-key": "}",
  "before-value": "}",
  "after-member": "}",
  "next-member": "}",
  "array-start": "]",
  "after-item": "]",
  "next-item": "]",
};

const KEPT: ReadonlySet<At> = new Set(["string", "after-item"]);
const WORDS: Record<string, string> = { t: "true", f: "false", n: "null" };
const BRACKETS: Record<string, string> = { "{": "}", "[": "]", '"': '"' };

/** JSON text that arrives in deltas, and its value whenever somebody asks. The text is scanned once. */
export class PartialJson {
  private open: At[] = ["root"];
  private position = 0;
  private keep = 0; // length of the text worth keeping
  private literal = 0; // where the literal being read begins
  private hexDigits = 0;
  private known = false;
  private parsed: unknown;

  constructor(private written = "") {}

  feed(delta: string): void {
    this.written += delta;
    this.known = false;
  }

  get text(): string {
    return this.written;
  }

  /** The value so far; undefined when the text amounts to nothing. The same one until the next delta. */
  value(): unknown {
    if (!this.known) {
      this.parsed = this.parse();
      this.known = true;
    }
    return this.parsed;
  }

  private parse(): unknown {
    const text = this.written;
    if (mayBeWhole(text)) {
      const whole = secureParse(text);
      if (whole !== undefined) return whole;
    }
    this.scan(text);
    return secureParse(this.repaired(text));
  }

  private scan(text: string): void {
    let position = this.position;
    while (position < text.length && this.open.at(-1) !== "end") position = this.pass(text, position);
    this.position = text.length;
  }

  private pass(text: string, position: number): number {
    const state = this.open.at(-1) as At;
    const char = text[position] as string;
    if (state === "escape") {
      this.move(char === "u" ? goTo("unicode") : CLOSED, position);
      return position + 1;
    }
    if (state === "unicode") return this.passHexDigit(char, position);
    if (state === "number") return this.passNumber(char, position);
    if (state === "literal") return this.passLiteral(text, char, position);
    const move = MOVES[state]?.[char];
    if (move) this.move(move, position);
    else if (KEPT.has(state)) this.keep = position + 1;
    return position + 1;
  }

  /** One digit of a unicode escape; whatever stands between is passed over. */
  private passHexDigit(char: string, position: number): number {
    if (/[0-9A-Fa-f]/.test(char) && ++this.hexDigits === 4) {
      this.hexDigits = 0;
      this.move(CLOSED, position);
    }
    return position + 1;
  }

  private passNumber(char: string, position: number): number {
    if (/[0-9]/.test(char)) this.keep = position + 1;
    else if (!/[eE.-]/.test(char)) this.leave(char, position);
    return position + 1;
  }

  private passLiteral(text: string, char: string, position: number): number {
    const word = WORDS[text[this.literal] as string] as string;
    if (char === word[position - this.literal]) this.keep = position + 1;
    else this.leave(char, position);
    return position + 1;
  }

  /** End the number or literal before `position`, where another character ends it. */
  private leave(char: string, position: number): void {
    this.open.pop();
    const move = MOVES[this.open.at(-1) as At]?.[char];
    if (move) this.move(move, position);
  }

  private move({ becomes, keep }: Move, position: number): void {
    this.open.splice(-1, 1, ...becomes);
    if (keep) this.keep = position + 1;
    if (this.open.at(-1) === "literal") this.literal = position;
  }

  /** The text cut after what is worth keeping, and closed from the inside out. */
  private repaired(text: string): string {
    let closers = "";
    for (const state of this.open.toReversed()) closers += CLOSERS[state] ?? "";
    if (this.open.at(-1) === "literal") {
      const word = WORDS[text[this.literal] as string] as string;
      closers = word.slice(text.length - this.literal) + closers;
    }
    return text.slice(0, this.keep) + closers;
  }
}

/** Whether the first and the last character let a text be complete JSON. Most prefixes fail here. */
function mayBeWhole(text: string): boolean {
  const first = /[^ \t\n\r]/.exec(text)?.[0] ?? "";
  const last = text.trimEnd().at(-1) ?? "";
  return (BRACKETS[first] ?? last) === last;
}

/** The value of a JSON text, unless it is none or holds a key that could reach a prototype. */
function secureParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return /__proto__|constructor|\\u00/.test(text) && hasForbiddenKey(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function hasForbiddenKey(root: unknown): boolean {
  const pending = [root];
  while (pending.length) {
    const node = pending.pop();
    if (typeof node !== "object" || node === null) continue;
    if (Object.hasOwn(node, "__proto__")) return true;
    const made = Object.hasOwn(node, "constructor")
      ? (node as { constructor: unknown }).constructor
      : undefined;
    if (typeof made === "object" && made !== null && Object.hasOwn(made, "prototype")) return true;
    pending.push(...Object.values(node));
  }
  return false;
}
