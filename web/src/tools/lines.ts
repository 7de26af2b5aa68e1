/** A text that comes piece by piece, as lines short enough to draw. */
import { visible } from "../ui/hostile";
import { ansiLine, type Carry, type Span } from "./ansi";

export interface DrawnLine {
  readonly spans: readonly Span[];
  /** Which line of the text it is, from 1; the rest of a long line has none. */
  readonly number?: number;
  /** The line goes on in the next one. */
  readonly goesOn: boolean;
}

export const LONGEST_LINE = 10_000;

/** Takes pieces, gives lines. The last line stays open until the text is whole. */
export class Lines {
  readonly all: DrawnLine[] = [];
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

  /** A line without an end must not be held back, nor joined again and again. */
  private drainLongLine(): void {
    if (this.open.length <= 2 * LONGEST_LINE || this.open.includes("\r")) return;
    const end = cutAt(this.open, Math.floor(this.open.length / LONGEST_LINE) * LONGEST_LINE);
    this.push(this.open.slice(0, end), true);
    this.open = this.open.slice(end);
    this.count--; // the rest belongs to the same line
  }

  private push(line: string, goesOn = false): void {
    this.count++;
    let number: number | undefined = this.all.at(-1)?.goesOn ? undefined : this.count;
    for (let at = 0; at === 0 || at < line.length; ) {
      const end = cutAt(line, at + LONGEST_LINE);
      this.draw(line.slice(at, end), number, goesOn || end < line.length);
      number = undefined;
      at = end || 1;
    }
  }

  private draw(text: string, number: number | undefined, goesOn: boolean): void {
    if (this.colours) {
      const { spans, carry } = ansiLine(text, this.carry);
      this.carry = carry;
      this.all.push({ spans, number, goesOn });
    } else {
      const shown = visible(text.replace(/\r$/, ""));
      this.all.push({ spans: shown ? [{ text: shown, look: [] }] : [], number, goesOn });
    }
  }
}

/** Not between the halves of a character. */
function cutAt(text: string, at: number): number {
  const isHalf = at < text.length && /[\ud800-\udbff]/.test(text[at - 1] ?? "");
  return Math.min(isHalf ? at - 1 : at, text.length);
}

/** The lines of a text that is there. */
export function drawnLines(text: string, colours = false): readonly DrawnLine[] {
  const lines = new Lines(colours);
  lines.add(text, true);
  return lines.all;
}
