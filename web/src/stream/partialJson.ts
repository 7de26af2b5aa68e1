/** Parses incomplete JSON with the repair rules of `parsePartialJson` in the npm package `ai`, version 7. */

type State =
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

/** The states that replace the innermost state, and whether the text up to here is kept. */
interface Transition {
  readonly states: readonly State[];
  readonly keep: boolean;
}

const CLOSED: Transition = { states: [], keep: true };
const goTo = (at: State): Transition => ({ states: [at], keep: false });

function valueThen(after: State): Record<string, Transition> {
  const transitions: Record<string, Transition> = {
    '"': { states: [after, "string"], keep: true },
    "{": { states: [after, "object-start"], keep: true },
    "[": { states: [after, "array-start"], keep: true },
  };
  for (const char of "tfn") transitions[char] = { states: [after, "literal"], keep: true };
  for (const char of "-0123456789") transitions[char] = { states: [after, "number"], keep: char !== "-" };
  return transitions;
}

// Other characters are skipped.
const TRANSITIONS: Partial<Record<State, Record<string, Transition>>> = {
  root: valueThen("end"),
  string: { '"': CLOSED, "\\": { states: ["string", "escape"], keep: false } },
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

const CLOSERS: Partial<Record<State, string>> = {
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

const ALWAYS_KEPT: ReadonlySet<State> = new Set(["string", "after-item"]);
const LITERALS: Record<string, string> = { t: "true", f: "false", n: "null" };
const BRACKETS: Record<string, string> = { "{": "}", "[": "]", '"': '"' };

/** Parses JSON that arrives in deltas. The text is scanned once. */
export class PartialJson {
  private open: State[] = ["root"];
  private position = 0;
  private keep = 0; // length of the text that is kept
  private literal = 0; // start of the current literal
  private hexDigits = 0;
  private isCurrent = false;
  private parsed: unknown;

  constructor(private source = "") {}

  feed(delta: string): void {
    this.source += delta;
    this.isCurrent = false;
  }

  get text(): string {
    return this.source;
  }

  /** The value so far; undefined if there is none. The same object until the next delta. */
  value(): unknown {
    if (!this.isCurrent) {
      this.parsed = this.parse();
      this.isCurrent = true;
    }
    return this.parsed;
  }

  private parse(): unknown {
    const text = this.source;
    if (mayBeComplete(text)) {
      const complete = secureParse(text);
      if (complete !== undefined) return complete;
    }
    this.scan(text);
    return secureParse(this.repaired(text));
  }

  private scan(text: string): void {
    let position = this.position;
    while (position < text.length && this.open.at(-1) !== "end") position = this.step(text, position);
    this.position = text.length;
  }

  private step(text: string, position: number): number {
    const state = this.open.at(-1) as State;
    const char = text[position] as string;
    if (state === "escape") {
      this.transition(char === "u" ? goTo("unicode") : CLOSED, position);
      return position + 1;
    }
    if (state === "unicode") return this.stepHexDigit(char, position);
    if (state === "number") return this.stepNumber(char, position);
    if (state === "literal") return this.stepLiteral(text, char, position);
    const transition = TRANSITIONS[state]?.[char];
    if (transition) this.transition(transition, position);
    else if (ALWAYS_KEPT.has(state)) this.keep = position + 1;
    return position + 1;
  }

  /** A digit of a unicode escape. Other characters are skipped. */
  private stepHexDigit(char: string, position: number): number {
    if (/[0-9A-Fa-f]/.test(char) && ++this.hexDigits === 4) {
      this.hexDigits = 0;
      this.transition(CLOSED, position);
    }
    return position + 1;
  }

  private stepNumber(char: string, position: number): number {
    if (/[0-9]/.test(char)) this.keep = position + 1;
    else if (!/[eE.-]/.test(char)) this.endToken(char, position);
    return position + 1;
  }

  private stepLiteral(text: string, char: string, position: number): number {
    const word = LITERALS[text[this.literal] as string] as string;
    if (char === word[position - this.literal]) this.keep = position + 1;
    else this.endToken(char, position);
    return position + 1;
  }

  /** Ends the number or literal before `position`. */
  private endToken(char: string, position: number): void {
    this.open.pop();
    const transition = TRANSITIONS[this.open.at(-1) as State]?.[char];
    if (transition) this.transition(transition, position);
  }

  private transition({ states, keep }: Transition, position: number): void {
    this.open.splice(-1, 1, ...states);
    if (keep) this.keep = position + 1;
    if (this.open.at(-1) === "literal") this.literal = position;
  }

  /** The kept text with closing brackets. */
  private repaired(text: string): string {
    let closers = "";
    for (const state of this.open.toReversed()) closers += CLOSERS[state] ?? "";
    if (this.open.at(-1) === "literal") {
      const word = LITERALS[text[this.literal] as string] as string;
      closers = word.slice(text.length - this.literal) + closers;
    }
    return text.slice(0, this.keep) + closers;
  }
}

/** Whether a text can be complete JSON by its first and last character. Most prefixes are not. */
function mayBeComplete(text: string): boolean {
  const first = /[^ \t\n\r]/.exec(text)?.[0] ?? "";
  const last = text.trimEnd().at(-1) ?? "";
  return (BRACKETS[first] ?? last) === last;
}

/** Parses JSON; undefined if it is invalid or has a key that could pollute a prototype. */
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
    const constructorValue = Object.hasOwn(node, "constructor")
      ? (node as { constructor: unknown }).constructor
      : undefined;
    if (
      typeof constructorValue === "object" &&
      constructorValue !== null &&
      Object.hasOwn(constructorValue, "prototype")
    )
      return true;
    pending.push(...Object.values(node));
  }
  return false;
}
