/** Splits a text that arrives in pieces into lines that are short enough to render. */
import { visible } from "../ui/sanitize";
import { ansiLine, type Carry, type Span } from "./ansi";

export interface TextLine {
  readonly spans: readonly Span[];
  /** The line number, from 1. The continuation of a long line has none. */
  readonly number?: number;
  /** The line continues in the next one. */
  readonly continues: boolean;
}

export const MAX_LINE_LENGTH = 10_000;

/** Splits pieces of text into lines. The last line is incomplete until the last piece. */
export class Lines {
  readonly all: TextLine[] = [];
  private open = "";
  private carry: Carry = [];
  private count = 0;

  constructor(private readonly colours: boolean) {}

  add(piece: string, isLast: boolean): void {
    const found = (this.open + piece).split("\n");
    this.open = found.pop() ?? "";
    for (const line of found) this.push(line);
    if (isLast && this.open) {
      this.push(this.open);
      this.open = "";
    } else this.drainLongLine();
  }

  /** Emits the beginning of a very long line, so that it is not joined with every piece. */
  private drainLongLine(): void {
    if (this.open.length <= 2 * MAX_LINE_LENGTH || this.open.includes("\r")) return;
    const end = cutAt(this.open, Math.floor(this.open.length / MAX_LINE_LENGTH) * MAX_LINE_LENGTH);
    this.push(this.open.slice(0, end), true);
    this.open = this.open.slice(end);
    this.count--; // the rest has the same line number
  }

  private push(line: string, continues = false): void {
    this.count++;
    let number: number | undefined = this.all.at(-1)?.continues ? undefined : this.count;
    for (let at = 0; at === 0 || at < line.length; ) {
      const end = cutAt(line, at + MAX_LINE_LENGTH);
      this.append(line.slice(at, end), number, continues || end < line.length);
      number = undefined;
      at = end || 1;
    }
  }

  private append(text: string, number: number | undefined, continues: boolean): void {
    if (this.colours) {
      const { spans, carry } = ansiLine(text, this.carry);
      this.carry = carry;
      this.all.push({ spans, number, continues });
    } else {
      const shown = visible(text.replace(/\r$/, ""));
      this.all.push({ spans: shown ? [{ text: shown, styles: [] }] : [], number, continues });
    }
  }
}

/** The index, moved so that it does not split a surrogate pair. */
function cutAt(text: string, at: number): number {
  const isHalf = at < text.length && /[\ud800-\udbff]/.test(text[at - 1] ?? "");
  return Math.min(isHalf ? at - 1 : at, text.length);
}

/** The lines of a complete text. */
export function linesOf(text: string, colours = false): readonly TextLine[] {
  const lines = new Lines(colours);
  lines.add(text, true);
  return lines.all;
}
