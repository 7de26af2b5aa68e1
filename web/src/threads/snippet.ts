/** Passages of a search as plain text: without the marks of Markdown, terminal colours and JSON escapes. */

export interface Snippet {
  readonly text: string;
  /** Start and end of each match, in code points. */
  readonly highlights: readonly (readonly [number, number])[];
}

/** What is replaced, and by what. */
interface Rule {
  readonly pattern: RegExp;
  readonly by?: string;
}

const RULES: readonly Rule[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences begin with a control character
  { pattern: /(?:\u001b|\\u001b|\\x1b)\[[0-9;?]*[A-Za-z]/y },
  { pattern: /\\u00(?:0[0-9a-f]|1[0-9a-f])/iy },
  { pattern: /(?:\\[nrt]|\s)+/y, by: " " },
  { pattern: /\\(?=["\\/_*`])/y },
  { pattern: /!?\[(?=[^\]\n]{1,200}\]\([^)\n]*\))/y },
  { pattern: /\]\([^)\n]{0,500}\)/y },
  { pattern: /\]\((?=[^)\n]{0,500}\))/y, by: " (" }, // a match in the address
  { pattern: /\*{1,3}|`{1,3}|~~/y },
  { pattern: /#{2,6} (?=\S)/y }, // a passage may have its lines on one
  { pattern: /\|(?:[ :-]*\|)+ ?/y, by: " " }, // the lines of a table
];
/** At the beginning of the text or of a line. */
const LINE_START: Rule = { pattern: /(?:#{1,6} |> |[-+] (?=\S))/y };
const AT_START: readonly Rule[] = [LINE_START, ...RULES];

/** The passage as plain text with its matches. A match that is part of a mark stays. */
export function plainSnippet(text: string, highlights: readonly (readonly [number, number])[]): Snippet {
  const points = Array.from(text);
  const units: number[] = []; // the code point at each UTF-16 unit
  points.forEach((point, index) => {
    for (let unit = 0; unit < point.length; unit++) units.push(index);
  });
  const inMatch = (start: number, end: number) =>
    highlights.some(([from, to]) => from < (units[end - 1] ?? 0) + 1 && to > (units[start] ?? 0));
  const places = new Array<number>(points.length + 1).fill(0);
  const out: string[] = [];
  let at = 0;
  while (at < text.length) {
    const rule = ruleAt(text, at, inMatch);
    const point = units[at] ?? 0;
    if (rule) {
      const by = rule.by === " " && (out.length === 0 || out.at(-1) === " ") ? "" : rule.by;
      for (let index = point; index <= (units[at + rule.length - 1] ?? point); index++)
        places[index] = out.length;
      if (by) out.push(...by);
      at += rule.length;
      continue;
    }
    const character = points[point] ?? "";
    places[point] = out.length;
    out.push(character);
    at += character.length || 1;
  }
  places[points.length] = out.length;
  return {
    text: out.join(""),
    highlights: highlights.map(([from, to]) => [places[from] ?? 0, places[to] ?? out.length] as const),
  };
}

interface Found {
  readonly length: number;
  readonly by: string;
}

/** The first rule for what begins here, unless it would remove a part of a match. */
function ruleAt(text: string, at: number, inMatch: (start: number, end: number) => boolean): Found | null {
  const isStart = at === 0 || text[at - 1] === "\n";
  for (const { pattern, by = "" } of isStart ? AT_START : RULES) {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    if (length && !inMatch(at, at + length)) return { length, by };
  }
  return null;
}
