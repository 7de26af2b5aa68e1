/** The range of an error from its position as text. */
import { linesOf, type Positions, type Range } from "./positions";

/** The range of `line 3, column 7`, `event 4, column 2` or `$[0].parts`; null for any other text. */
export function rangeOfError(where: string, text: string, positions: Positions | null): Range | null {
  const line = /line (\d+)(?:, column (\d+))?/.exec(where);
  if (line) return inLine(text, Number(line[1]), line[2] ? Number(line[2]) : null);
  const event = /event (\d+)(?:, column (\d+))?/.exec(where);
  if (event && positions) return inEvent(positions.root(Number(event[1])), event[2]);
  const path = /\$[^\s,]*/.exec(where);
  return path && positions ? positions.locate(path[0]) : null;
}

function inLine(text: string, number: number, column: number | null): Range | null {
  const line = linesOf(text)[number - 1];
  if (!line) return null;
  if (column === null) return line;
  const start = Math.min(line.start + column - 1, line.end);
  return characterAt(start, line.end, line.start);
}

function inEvent(event: Range | null, column: string | undefined): Range | null {
  if (!event || !column) return event;
  return characterAt(Math.min(event.start + Number(column) - 1, event.end), event.end, event.start);
}

/** One character, or the last one if the position is at the end. */
const characterAt = (start: number, end: number, first: number): Range =>
  start < end ? { start, end: start + 1 } : { start: Math.max(first, end - 1), end };
